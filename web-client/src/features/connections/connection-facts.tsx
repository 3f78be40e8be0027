import { DataList, Paper, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { SessionFacts, Traffic } from '../../engine/types.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatBytes, formatCount, formatDateTime } from '../../ui/format.ts';

const NEVER_SECONDS = 0xffff_ffff;

/** The fields of CONNACK, and the traffic since. */
export function ConnectionFacts({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { session, traffic } = useStatus(id);
  return (
    <Paper withBorder p="md" bg="var(--apus-surface)">
      <Title order={3} size="h6" mb="xs">
        {t('connections.facts.title')}
      </Title>
      {session === undefined ? (
        <Text size="xs" c="dimmed">
          {t('connections.facts.none')}
        </Text>
      ) : (
        <SessionList session={session} />
      )}
      <Title order={3} size="h6" mt="md" mb="xs">
        {t('connections.facts.traffic')}
      </Title>
      <TrafficList traffic={traffic} />
    </Paper>
  );
}

function SessionList({ session }: { readonly session: SessionFacts }) {
  const { t } = useTranslation();
  const seconds = (value: number): string => `${formatCount(value)} ${t('connections.editor.seconds')}`;
  const available = (is: boolean): string =>
    is ? t('connections.facts.available') : t('connections.facts.notAvailable');
  const limit = (value: number | undefined): string =>
    value === undefined ? t('connections.facts.unlimited') : formatCount(value);
  const expiry = session.sessionExpiryIntervalSeconds ?? 0;
  const expiryText =
    expiry === NEVER_SECONDS
      ? t('connections.facts.never')
      : expiry === 0
        ? t('connections.facts.atOnce')
        : seconds(expiry);
  return (
    <DataList size="xs" gap={4} labelWidth="150px">
      <Fact label={t('connections.facts.since')} value={formatDateTime(session.connectedAtMs)} />
      <Fact label={t('connections.facts.clientId')} value={session.clientId} />
      <Fact
        label={t('connections.facts.session')}
        value={
          session.sessionPresent ? t('connections.facts.sessionPresent') : t('connections.facts.sessionNew')
        }
      />
      <Fact label={t('connections.facts.sessionExpiry')} value={expiryText} />
      <Fact label={t('connections.facts.keepAlive')} value={seconds(session.keepAliveSeconds)} />
      <Fact label={t('connections.facts.maximumQos')} value={String(session.maximumQos)} />
      <Fact label={t('connections.facts.receiveMaximum')} value={limit(session.receiveMaximum)} />
      <Fact
        label={t('connections.facts.maximumPacketSize')}
        value={
          session.maximumPacketSizeBytes === undefined
            ? t('connections.facts.unlimited')
            : formatBytes(session.maximumPacketSizeBytes)
        }
      />
      <Fact
        label={t('connections.facts.topicAliasMaximum')}
        value={formatCount(session.topicAliasMaximum ?? 0)}
      />
      <Fact label={t('connections.facts.retain')} value={available(session.retainAvailable)} />
      <Fact label={t('connections.facts.wildcards')} value={available(session.wildcardAvailable)} />
      <Fact
        label={t('connections.facts.identifiers')}
        value={available(session.subscriptionIdentifiersAvailable)}
      />
      <Fact label={t('connections.facts.shared')} value={available(session.sharedAvailable)} />
      <Fact label={t('connections.facts.responseInformation')} value={session.responseInformation} />
      <Fact label={t('connections.facts.serverReference')} value={session.serverReference} />
      <Fact label={t('connections.facts.reasonString')} value={session.reasonString} />
      {session.userProperties.map(([name, value]) => (
        <Fact key={`${name}=${value}`} label={name} value={value} />
      ))}
    </DataList>
  );
}

function TrafficList({ traffic }: { readonly traffic: Traffic }) {
  const { t } = useTranslation();
  const both = (messages: number, bytes: number): string =>
    t('connections.facts.messagesAndBytes', { messages: formatCount(messages), bytes: formatBytes(bytes) });
  const { gateway } = traffic;
  return (
    <DataList size="xs" gap={4} labelWidth="150px">
      <Fact label={t('connections.facts.received')} value={both(traffic.messagesIn, traffic.bytesIn)} />
      <Fact label={t('connections.facts.sent')} value={both(traffic.messagesOut, traffic.bytesOut)} />
      {traffic.dropped > 0 && (
        <Fact label={t('connections.facts.dropped')} value={formatCount(traffic.dropped)} />
      )}
      {traffic.skipped > 0 && (
        <Fact label={t('connections.facts.skipped')} value={formatCount(traffic.skipped)} />
      )}
      {gateway !== undefined && (
        <>
          <Fact
            label={t('connections.facts.frames')}
            value={`${formatCount(gateway.framesSent)}, ${formatCount(gateway.framesReceived)}`}
          />
          <Fact label={t('connections.facts.billed')} value={formatCount(gateway.messagesBilled)} />
        </>
      )}
    </DataList>
  );
}

/** A row; omitted without a value. */
function Fact({ label, value }: { readonly label: string; readonly value: string | undefined }) {
  if (value === undefined || value === '') return null;
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere' }}>{value}</DataList.ItemValue>
    </DataList.Item>
  );
}
