import { afterAll } from 'vitest';
import { type Kafka, type KafkaSecurity, makeKafka } from '../../loadtest/bench/kafka/broker.ts';

export type { Kafka } from '../../loadtest/bench/kafka/broker.ts';

/**
 * One Kafka for the tests of a file. Undefined where it cannot be started, as without Java and Maven: its tests are
 * skipped then. In CI it is a failure.
 */
export async function kafkaOrSkip(security?: KafkaSecurity): Promise<Kafka | undefined> {
  try {
    const kafka = await makeKafka(security);
    await kafka.start();
    afterAll(() => kafka.kill());
    return kafka;
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    return undefined;
  }
}
