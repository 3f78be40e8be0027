import type { Message, PublishRequest } from '@apus/broker';
import { isUtf8, matches, publishLength, type UserProperties, validateTopicName } from '@apus/mqtt';
import type { BridgeCommon } from '../configuration/common.ts';
import type { KafkaInMapping, KafkaOutMapping } from '../configuration/kafka.ts';
import { filled, filledByTopic } from '../configuration/template.ts';
import { withHop } from '../hops.ts';

/** A record that Kafka has delivered. */
export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer | undefined | null;
  readonly value: Buffer | undefined | null;
  readonly headers: ReadonlyMap<Buffer, Buffer>;
}

/** A record for Kafka. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: Map<Buffer, Buffer>;
}

/** The MQTT topic of a record, or the reason why it has none. */
function topicOf(
  { to }: KafkaInMapping,
  { topic, partition, key }: KafkaRecord,
  topicLevelsMax: number,
): string | { readonly problem: string } {
  const needsKey = to.names.includes('key');
  if (needsKey && (key === null || key === undefined || key.length === 0))
    return { problem: 'it has no key' };
  if (needsKey && key && !isUtf8(key)) return { problem: 'its key is not UTF-8' };
  const values: Readonly<Record<string, string>> = {
    topic,
    partition: String(partition),
    key: key?.toString() ?? '',
  };
  const name = filled(to, (placeholder) => values[placeholder] ?? '');
  const invalid = validateTopicName(name, { topicLevelsMax });
  if (invalid !== undefined) return { problem: invalid.reason };
  return name.startsWith('$') ? { problem: 'its topic would begin with $' } : name;
}

/** The limits of the door that publishes the messages of records. */
export interface RecordLimits {
  readonly topicLevelsMax: number;
  /** Bytes of the PUBLISH for the record. */
  readonly publishBytesMax: number;
}

/** A record that cannot become a message, with the reason; or a record that has crossed as many bridges as allowed. */
export type NoMessage = { readonly problem: string } | 'looped';

/** The message for a record. */
export function requestOf(
  record: KafkaRecord,
  mapping: KafkaInMapping,
  { tenant, hopsMax }: Pick<BridgeCommon, 'tenant' | 'hopsMax'>,
  { topicLevelsMax, publishBytesMax }: RecordLimits,
): PublishRequest | NoMessage {
  const topic = topicOf(mapping, record, topicLevelsMax);
  if (typeof topic !== 'string') return topic;
  const userProperties = withHop(userPropertiesOf(record), hopsMax);
  if (userProperties === undefined) return 'looped';
  const { qos, retain } = mapping;
  const payload = record.value ?? Buffer.alloc(0);
  const request = { topic, payload, qos, retain, properties: { userProperties } };
  const bytes = publishLength({ type: 'publish', dup: false, packetId: 1, ...request }, 5);
  if (bytes > publishBytesMax) return { problem: `it has more than ${publishBytesMax} bytes` };
  return { tenant, ...request };
}

/** Headers that are valid MQTT strings. */
function userPropertiesOf({ headers }: KafkaRecord): UserProperties {
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of headers) {
    if (isText(name) && isText(value)) pairs.push([name.toString(), value.toString()]);
  }
  return pairs;
}

/** The length of an MQTT string has two bytes (MQTT 1.5.4). */
const TEXT_BYTES_MAX = 0xffff;

/** U+0000 is valid UTF-8, but not allowed in an MQTT string. */
function isText(bytes: Buffer | null | undefined): bytes is Buffer {
  if (bytes === null || bytes === undefined || bytes.length > TEXT_BYTES_MAX) return false;
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Headers of every record: its key may not contain the topic, and a repetition has the same id. */
export const TOPIC_HEADER = 'mqtt-topic';
export const MESSAGE_ID_HEADER = 'mqtt-message-id';

export function recordOf(
  { topic, key }: Pick<KafkaOutMapping, 'topic' | 'key'>,
  message: Message,
  userProperties: UserProperties,
): OutgoingRecord {
  const { contentType } = message.properties;
  const own = new Map([
    [TOPIC_HEADER, message.topic],
    [MESSAGE_ID_HEADER, message.id],
  ]);
  if (contentType !== undefined) own.set('content-type', contentType);
  // A client chooses the names of its properties: none takes the place of one of these.
  const ofClient = userProperties.filter(([name]) => !own.has(name));
  const headers = new Map<Buffer, Buffer>();
  for (const [name, value] of [...own, ...ofClient]) headers.set(Buffer.from(name), Buffer.from(value));
  return {
    topic,
    key: Buffer.from(filledByTopic(key, message.topic)),
    value: Buffer.from(message.payload),
    headers,
  };
}

export function mappingFor(mappings: readonly KafkaOutMapping[], topic: string): KafkaOutMapping | undefined {
  return mappings.find(({ filter }) => matches(filter, topic));
}

/** Kafka counts some more bytes for each record and header. */
export function recordBytes({ key, value, headers }: OutgoingRecord): number {
  let bytes = 64 + key.length + value.length;
  for (const [name, header] of headers) bytes += name.length + header.length + 8;
  return bytes;
}
