import { DataList, Group, Text } from '@mantine/core';
import { IconChartLine } from '@tabler/icons-react';
import { shownBinary } from '../../engine/inspect/field.ts';
import { streamFacts } from '../../engine/stream-reading.ts';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { formatBytes, formatDuration, formatTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { useChartThis } from '../charts/use-chart-this.ts';

interface MessagePropertiesProps {
  readonly profile: ConnectionProfile;
  readonly message: LoggedMessage;
}

/** A line of what is known; one without a value is not shown. */
interface Fact {
  readonly label: string;
  readonly value: string | undefined;
  /** A button beside the value. */
  readonly action?: { readonly label: string; readonly act: () => void };
}

/** User properties that are shown: a packet has room for a hundred thousand. */
const PAIRS_MAX = 200;

/** Characters of a value. */
const VALUE_CHARACTERS_MAX = 2_000;

/** User properties that the broker has set, of a message of a stream. */
const STREAM_NAMES = new Set(['stream-position', 'stream-kind', 'key']);

/** Everything that the client knows about a message besides its payload. */
export function MessageProperties({ profile, message }: MessagePropertiesProps) {
  const chartThis = useChartThis();
  const { connectionId, topic, properties, latencyMs, missingBefore } = message;
  const flags = [
    ...(message.retain ? [t('messages.retain')] : []),
    ...(message.dup ? [t('messages.dup')] : []),
  ].join(', ');
  const subscriptions = profile.subscriptions
    .filter(({ id }) => message.subscriptionIds.includes(id))
    .map(({ alias, filter }) => alias || filter)
    .join(', ');
  const expiry = properties.messageExpiryIntervalSeconds;
  const chart = (kind: 'latency' | 'missing') => ({
    label: t(`messages.details.chart.${kind}`, { topic }),
    act: () => chartThis(connectionId, topic, { kind }),
  });
  const stream = message.direction === 'received' ? streamFacts(properties) : undefined;
  const facts: readonly Fact[] = [
    { label: t('messages.details.time'), value: formatTime(message.atMs) },
    { label: t('messages.details.packetId'), value: message.packetId?.toString() },
    { label: t('messages.details.flags'), value: flags },
    {
      label: t('messages.details.size'),
      value: t('messages.details.sizeText', {
        payload: formatBytes(message.payloadLength),
        packet: formatBytes(message.packetLength),
      }),
    },
    {
      label: t('messages.details.latency'),
      value: latencyMs === undefined ? undefined : formatDuration(latencyMs),
      action: chart('latency'),
    },
    {
      label: t('messages.details.missing'),
      value: missingBefore === 0 ? undefined : String(missingBefore),
      action: chart('missing'),
    },
    { label: t('messages.details.subscriptions'), value: subscriptions },
    { label: t('messages.details.streamPosition'), value: stream?.position },
    {
      label: t('messages.details.streamKind'),
      value:
        stream &&
        (stream.kind ? t(`messages.streamKinds.${stream.kind}.long`) : t('messages.details.streamLive')),
    },
    { label: t('messages.details.streamKey'), value: stream?.key },
    {
      label: t('messages.details.payloadFormat'),
      value: properties.payloadFormatIndicator === true ? t('messages.details.utf8') : undefined,
    },
    {
      label: t('messages.details.expiry'),
      value: expiry === undefined ? undefined : t('messages.details.seconds', { count: expiry }),
    },
    { label: t('messages.details.contentType'), value: properties.contentType },
    { label: t('messages.details.responseTopic'), value: properties.responseTopic },
    {
      label: t('messages.details.correlationData'),
      value: properties.correlationData && shownBinary(properties.correlationData),
    },
    { label: t('messages.details.alias'), value: properties.topicAlias?.toString() },
    {
      label: t('messages.details.identifiers'),
      value: properties.subscriptionIdentifiers?.join(', '),
    },
  ];
  const isShownAbove = (name: string): boolean => stream !== undefined && STREAM_NAMES.has(name);
  const pairs = (properties.userProperties ?? []).filter(([name]) => !isShownAbove(name));
  return (
    <DataList size="xs" gap={4} p={10} labelWidth="130px">
      {facts.map(
        (fact) => fact.value !== undefined && fact.value !== '' && <Row key={fact.label} {...fact} />,
      )}
      {pairs.slice(0, PAIRS_MAX).map(([name, value], index) => (
        // A name may come more than once, and pairs do not move.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Row key={index} label={t('messages.details.userProperty')} value={`${name} = ${value}`} />
      ))}
      {pairs.length > PAIRS_MAX && (
        <Row
          label={t('messages.details.userProperty')}
          value={t('messages.details.morePairs', { count: pairs.length - PAIRS_MAX })}
        />
      )}
    </DataList>
  );
}

function shortened(value: string): string {
  return value.length > VALUE_CHARACTERS_MAX ? `${value.slice(0, VALUE_CHARACTERS_MAX)}…` : value;
}

function Row({ label, value, action }: Fact) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue>
        <Group gap={4} wrap="nowrap">
          <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {value === undefined ? '' : visibleText(shortened(value))}
          </Text>
          {action !== undefined && (
            <IconButton label={action.label} onClick={action.act}>
              <IconChartLine size={15} stroke={1.5} />
            </IconButton>
          )}
        </Group>
      </DataList.ItemValue>
    </DataList.Item>
  );
}
