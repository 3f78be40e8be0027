import { DataList, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { shownBinary } from '../../engine/inspect/field.ts';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { formatBytes, formatDuration, formatTime } from '../../ui/format.ts';

interface MessagePropertiesProps {
  readonly profile: ConnectionProfile;
  readonly message: LoggedMessage;
}

/** What is known of a message besides its payload. */
export function MessageProperties({ profile, message }: MessagePropertiesProps) {
  const { t } = useTranslation();
  const { properties, latencyMs, missingBefore } = message;
  const flags = [
    ...(message.retain ? [t('messages.retain')] : []),
    ...(message.dup ? [t('messages.dup')] : []),
  ].join(', ');
  const subscriptions = profile.subscriptions
    .filter(({ id }) => message.subscriptionIds.includes(id))
    .map(({ alias, filter }) => alias || filter)
    .join(', ');
  const expiry = properties.messageExpiryIntervalSeconds;
  const rows: readonly (readonly [string, string | undefined])[] = [
    [t('messages.details.time'), formatTime(message.atMs)],
    [t('messages.details.packetId'), message.packetId?.toString()],
    [t('messages.details.flags'), flags],
    [
      t('messages.details.size'),
      t('messages.details.sizeText', {
        payload: formatBytes(message.payloadLength),
        packet: formatBytes(message.packetLength),
      }),
    ],
    [t('messages.details.latency'), latencyMs === undefined ? undefined : formatDuration(latencyMs)],
    [t('messages.details.missing'), missingBefore === 0 ? undefined : String(missingBefore)],
    [t('messages.details.subscriptions'), subscriptions],
    [
      t('messages.details.payloadFormat'),
      properties.payloadFormatIndicator === true ? t('messages.details.utf8') : undefined,
    ],
    [
      t('messages.details.expiry'),
      expiry === undefined ? undefined : t('messages.details.seconds', { count: expiry }),
    ],
    [t('messages.details.contentType'), properties.contentType],
    [t('messages.details.responseTopic'), properties.responseTopic],
    [
      t('messages.details.correlationData'),
      properties.correlationData && shownBinary(properties.correlationData),
    ],
    [t('messages.details.alias'), properties.topicAlias?.toString()],
    [t('messages.details.identifiers'), properties.subscriptionIdentifiers?.join(', ')],
  ];
  const pairs = properties.userProperties ?? [];
  return (
    <DataList size="xs" gap={4} p={10} labelWidth="130px">
      {rows.map(
        ([label, value]) =>
          value !== undefined && value !== '' && <Row key={label} label={label} value={value} />,
      )}
      {pairs.map(([name, value], index) => (
        // A name may come more than once, and pairs do not move.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <Row key={index} label={t('messages.details.userProperty')} value={`${name} = ${value}`} />
      ))}
    </DataList>
  );
}

function Row({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue>
        <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {value}
        </Text>
      </DataList.ItemValue>
    </DataList.Item>
  );
}
