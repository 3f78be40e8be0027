import type { Message } from '@apus/broker';
import { isUtf8, matches, type UserProperties, validateTopicName } from '@apus/mqtt';
import type { KafkaInMapping, KafkaOutMapping } from '../configuration/kafka.ts';
import { filled } from '../configuration/template.ts';

/** A record as it comes from Kafka. */
export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer | undefined | null;
  readonly value: Buffer | undefined | null;
  readonly headers: ReadonlyMap<Buffer, Buffer>;
}

/** A record as it goes there. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: Map<Buffer, Buffer>;
}

/** The MQTT topic of a record, or why it has none. */
export function topicOf(
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

/** Headers that are text; MQTT has no others. */
export function userPropertiesOf({ headers }: KafkaRecord): UserProperties {
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of headers) {
    if (isText(name) && isText(value)) pairs.push([name.toString(), value.toString()]);
  }
  return pairs;
}

/** U+0000 is UTF-8, and no text of MQTT. */
function isText(bytes: Buffer | null | undefined): bytes is Buffer {
  return bytes !== null && bytes !== undefined && isUtf8(bytes) && !bytes.includes(0);
}

/** Headers that every record has: its key may not tell the topic, and a repetition has the same id. */
export const TOPIC_HEADER = 'mqtt-topic';
export const MESSAGE_ID_HEADER = 'mqtt-message-id';

export function recordOf(
  { topic, key }: Pick<KafkaOutMapping, 'topic' | 'key'>,
  message: Message,
  userProperties: UserProperties,
): OutgoingRecord {
  const levels = message.topic.split('/');
  const fill = (name: string) => (name === 'topic' ? message.topic : (levels[Number(name) - 1] ?? ''));
  const headers = new Map<Buffer, Buffer>();
  const add = (name: string, value: string) => headers.set(Buffer.from(name), Buffer.from(value));
  add(TOPIC_HEADER, message.topic);
  add(MESSAGE_ID_HEADER, message.id);
  if (message.properties.contentType !== undefined) add('content-type', message.properties.contentType);
  for (const [name, value] of userProperties) add(name, value);
  return { topic, key: Buffer.from(filled(key, fill)), value: Buffer.from(message.payload), headers };
}

export function mappingFor(mappings: readonly KafkaOutMapping[], topic: string): KafkaOutMapping | undefined {
  return mappings.find(({ filter }) => matches(filter, topic));
}

/** Kafka counts some bytes more for each record and header. */
export function recordBytes({ key, value, headers }: OutgoingRecord): number {
  let bytes = 64 + key.length + value.length;
  for (const [name, header] of headers) bytes += name.length + header.length + 8;
  return bytes;
}
