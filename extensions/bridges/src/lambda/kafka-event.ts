import type { KafkaRecord } from '../kafka/record.ts';

/**
 * The event of an event source mapping of Amazon MSK (`aws:kafka`) or of another Apache Kafka (`SelfManagedKafka`),
 * documented at https://docs.aws.amazon.com/lambda/latest/dg/with-msk.html.
 */
export interface KafkaEvent {
  readonly eventSource: string;
  /** Records by `TOPIC-PARTITION`, each list in the order of its offsets. */
  readonly records: Readonly<Record<string, readonly KafkaEventRecord[]>>;
}

export interface KafkaEventRecord {
  readonly topic: string;
  readonly partition: number | string;
  readonly offset: number;
  /** In base64. */
  readonly key?: string | null;
  /** In base64; absent or null for a record that deletes its key. */
  readonly value?: string | null;
  /** Bytes as numbers: Java writes bytes above 127 as negative numbers. */
  readonly headers?: readonly Readonly<Record<string, readonly number[]>>[];
}

/** The records of an event. The records of one partition are in order. */
export function recordsOf({ records }: KafkaEvent): readonly KafkaRecord[] {
  return Object.values(records).flatMap((partition) => partition.map(recordOf));
}

function recordOf({ topic, partition, offset, key, value, headers = [] }: KafkaEventRecord): KafkaRecord {
  return {
    topic,
    partition: Number(partition),
    offset: BigInt(offset),
    key: bytesOf(key),
    value: bytesOf(value),
    headers: new Map(headers.flatMap(pairsOf)),
  };
}

function bytesOf(base64: string | null | undefined): Buffer | undefined {
  return base64 === null || base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}

function pairsOf(
  header: Readonly<Record<string, readonly number[]>>,
): readonly (readonly [Buffer, Buffer])[] {
  return Object.entries(header).map(([name, bytes]) => [Buffer.from(name), Buffer.from(bytes)]);
}
