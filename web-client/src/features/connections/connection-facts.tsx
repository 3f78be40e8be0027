import { DataList, Paper, Text, Title } from '@mantine/core';
import { endOfToken } from '../../engine/token-end.ts';
import type { SessionFacts, Traffic } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { useStatus } from '../../state/hooks.ts';
import { secretsOf } from '../../state/secrets.ts';
import { formatBytes, formatCount, formatDateTime } from '../../ui/format.ts';

const NEVER_SECONDS = 0xffff_ffff;

/** The fields of CONNACK, and the traffic since. */
export function ConnectionFacts({ id }: { readonly id: string }) {
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
        <SessionList session={session} endsAtMs={endOfToken(secretsOf(id).token)} />
      )}
      <Title order={3} size="h6" mt="md" mb="xs">
        {t('connections.facts.traffic')}
      </Title>
      <TrafficList traffic={traffic} />
    </Paper>
  );
}

interface SessionListProps {
  readonly session: SessionFacts;
  /** The end of the token, if there is one. */
  readonly endsAtMs: number | undefined;
}

function SessionList({ session, endsAtMs }: SessionListProps) {
  return <Facts facts={[...factsOf(session, endsAtMs), ...session.userProperties]} />;
}

type FactOf = readonly [label: string, value: string | undefined];

function factsOf(session: SessionFacts, endsAtMs: number | undefined): readonly FactOf[] {
  const seconds = (value: number): string => `${formatCount(value)} ${t('connections.editor.seconds')}`;
  const available = (is: boolean): string =>
    t(is ? 'connections.facts.available' : 'connections.facts.notAvailable');
  const limit = (value: number | undefined, format: (value: number) => string): string =>
    value === undefined ? t('connections.facts.unlimited') : format(value);
  const expiry = session.sessionExpiryIntervalSeconds ?? 0;
  const expiryText =
    expiry === NEVER_SECONDS
      ? t('connections.facts.never')
      : expiry === 0
        ? t('connections.facts.atOnce')
        : seconds(expiry);
  return (
    [
      ['since', formatDateTime(session.connectedAtMs)],
      ['tokenEnds', endsAtMs === undefined ? undefined : formatDateTime(endsAtMs)],
      ['clientId', session.clientId],
      ['session', t(`connections.facts.${session.sessionPresent ? 'sessionPresent' : 'sessionNew'}`)],
      ['sessionExpiry', expiryText],
      ['keepAlive', seconds(session.keepAliveSeconds)],
      ['maximumQos', String(session.maximumQos)],
      ['receiveMaximum', limit(session.receiveMaximum, formatCount)],
      ['maximumPacketSize', limit(session.maximumPacketSizeBytes, formatBytes)],
      ['topicAliasMaximum', formatCount(session.topicAliasMaximum ?? 0)],
      ['retain', available(session.retainAvailable)],
      ['wildcards', available(session.wildcardAvailable)],
      ['identifiers', available(session.subscriptionIdentifiersAvailable)],
      ['shared', available(session.sharedAvailable)],
      ['responseInformation', session.responseInformation],
      ['serverReference', session.serverReference],
      ['reasonString', session.reasonString],
    ] as const
  ).map(([name, value]) => [t(`connections.facts.${name}`), value]);
}

function TrafficList({ traffic }: { readonly traffic: Traffic }) {
  const { messagesIn, bytesIn, messagesOut, bytesOut, dropped, skipped, gateway } = traffic;
  const both = (messages: number, bytes: number): string =>
    t('connections.facts.messagesAndBytes', { messages: formatCount(messages), bytes: formatBytes(bytes) });
  const some = (count: number): string | undefined => (count === 0 ? undefined : formatCount(count));
  const frames = gateway && `${formatCount(gateway.framesSent)}, ${formatCount(gateway.framesReceived)}`;
  return (
    <Facts
      facts={(
        [
          ['received', both(messagesIn, bytesIn)],
          ['sent', both(messagesOut, bytesOut)],
          ['dropped', some(dropped)],
          ['skipped', some(skipped)],
          ['frames', frames],
          ['billed', gateway && formatCount(gateway.messagesBilled)],
        ] as const
      ).map(([name, value]) => [t(`connections.facts.${name}`), value])}
    />
  );
}

/** Rows; one without a value is left out. */
function Facts({ facts }: { readonly facts: readonly FactOf[] }) {
  return (
    <DataList size="xs" gap={4} labelWidth="150px">
      {facts.map(
        ([label, value]) =>
          value !== undefined &&
          value !== '' && (
            <DataList.Item key={`${label}=${value}`}>
              <DataList.ItemLabel>{label}</DataList.ItemLabel>
              <DataList.ItemValue style={{ overflowWrap: 'anywhere' }}>{value}</DataList.ItemValue>
            </DataList.Item>
          ),
      )}
    </DataList>
  );
}
