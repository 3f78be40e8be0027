import { afterAll, it } from 'vitest';
import { type Kafka, type KafkaSecurity, makeKafka } from '../../loadtest/bench/kafka/broker.ts';

export type { Kafka } from '../../loadtest/bench/kafka/broker.ts';

/**
 * One Kafka for the tests of a file. Undefined where it cannot be started: a skipped test then gives the reason, so
 * that a developer without Java can run the other tests. In CI it is a failure.
 */
export async function kafkaOrSkip(security?: KafkaSecurity): Promise<Kafka | undefined> {
  try {
    const kafka = await makeKafka(security);
    await kafka.start();
    afterAll(() => kafka.kill());
    return kafka;
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    it.skip(`needs Kafka, which could not be started (Java 17 and Maven): ${error}`, () => {});
    return undefined;
  }
}
