import { Admin, Consumer, type Message, Producer } from '@platformatic/kafka';
import { onTestFinished } from 'vitest';
import { unique } from '../support/unique.ts';

type Bytes = Buffer;
export type KafkaRecord = Message<Bytes, Bytes, Bytes, Bytes>;

interface Given {
  readonly key?: string | Buffer;
  readonly value?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly partition?: number;
}

/** Topics and records of a Kafka, for tests. */
export function kafkaRecords(bootstrapBrokers: string[]) {
  const client = { clientId: 'test', bootstrapBrokers, retries: 20, retryDelay: 300 };

  async function topicWith(partitions: number): Promise<string> {
    const topic = unique('topic');
    const admin = new Admin(client);
    await admin.createTopics({ topics: [topic], partitions, replicas: 1 });
    await admin.close();
    return topic;
  }

  function producer(): Producer<Bytes, Bytes, Bytes, Bytes> {
    // The producer is idempotent: a request that it repeats on a busy machine writes its records once.
    const made = new Producer<Bytes, Bytes, Bytes, Bytes>({
      ...client,
      autocreateTopics: false,
      idempotent: true,
    });
    onTestFinished(async () => {
      await Promise.resolve(made.close()).catch(() => {});
    });
    return made;
  }

  async function produce(topic: string, records: readonly Given[], by = producer()): Promise<void> {
    const messages = records.map(({ key, value, headers = {}, partition }) => ({
      topic,
      ...(key !== undefined && { key: Buffer.from(key) }),
      ...(value !== undefined && { value: Buffer.from(value) }),
      headers: new Map(Object.entries(headers).map(([name, each]) => [Buffer.from(name), Buffer.from(each)])),
      ...(partition !== undefined && { partition }),
    }));
    await by.send({ messages });
  }

  /** Reads all records of a topic, from its beginning. */
  async function consumed(topic: string): Promise<readonly KafkaRecord[]> {
    const records: KafkaRecord[] = [];
    const consumer = new Consumer<Bytes, Bytes, Bytes, Bytes>({ ...client, groupId: unique('reader') });
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
    stream.on('data', (record) => records.push(record));
    stream.on('error', () => {});
    onTestFinished(async () => {
      await Promise.resolve(consumer.close(true)).catch(() => {});
    });
    return records;
  }

  return { topicWith, producer, produce, consumed };
}
