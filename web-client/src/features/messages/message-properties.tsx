import { DataList, Group, Text } from '@mantine/core';
import { IconChartLine } from '@tabler/icons-react';
import { shownBinary } from '../../engine/inspect/field.ts';
import { streamFacts } from '../../engine/stream-reading.ts';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { formatBytes, formatDuration, formatTime, plural } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { useChartThis } from '../charts/use-chart-this.ts';
import { messagesWords } from './strings.ts';

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
  const flags = [...(message.retain ? ['retained'] : []), ...(message.dup ? ['duplicate'] : [])].join(', ');
  const subscriptions = profile.subscriptions
    .filter(({ id }) => message.subscriptionIds.includes(id))
    .map(({ alias, filter }) => alias || filter)
    .join(', ');
  const expiry = properties.messageExpiryIntervalSeconds;
  const chart = (kind: 'latency' | 'missing') => ({
    label: kind === 'latency' ? `Chart the latency of ${topic}` : `Chart the missing messages of ${topic}`,
    act: () => chartThis(connectionId, topic, { kind }),
  });
  const stream = message.direction === 'received' ? streamFacts(properties) : undefined;
  const facts: readonly Fact[] = [
    { label: 'Time', value: formatTime(message.atMs) },
    { label: 'Packet identifier', value: message.packetId?.toString() },
    { label: 'Flags', value: flags },
    {
      label: 'Size',
      value: `${formatBytes(message.payloadLength)} payload, ${formatBytes(message.packetLength)} packet`,
    },
    {
      label: 'Latency',
      value: latencyMs === undefined ? undefined : formatDuration(latencyMs),
      action: chart('latency'),
    },
    {
      label: 'Missing before',
      value: missingBefore === 0 ? undefined : String(missingBefore),
      action: chart('missing'),
    },
    { label: 'Subscriptions', value: subscriptions },
    { label: 'Stream position', value: stream?.position },
    {
      label: 'Stream kind',
      value: stream && (stream.kind ? messagesWords.streamKinds[stream.kind].long : 'live'),
    },
    { label: 'Key', value: stream?.key },
    {
      label: 'Payload format',
      value: properties.payloadFormatIndicator === true ? 'UTF-8 text' : undefined,
    },
    {
      label: 'Message expiry interval',
      value: expiry === undefined ? undefined : `${expiry} s`,
    },
    { label: 'Content type', value: properties.contentType },
    { label: 'Response topic', value: properties.responseTopic },
    {
      label: 'Correlation data',
      value: properties.correlationData && shownBinary(properties.correlationData),
    },
    { label: 'Topic alias', value: properties.topicAlias?.toString() },
    {
      label: 'Subscription identifiers',
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
        <Row key={index} label="User property" value={`${name} = ${value}`} />
      ))}
      {pairs.length > PAIRS_MAX && (
        <Row
          label="User property"
          value={`${pairs.length - PAIRS_MAX} more ${plural(pairs.length - PAIRS_MAX, 'is', 'are')} not shown`}
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
