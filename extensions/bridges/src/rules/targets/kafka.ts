import type { Message } from '@apus/broker';
import { StateKeeper } from '../../bridge.ts';
import { recordBytes, recordOf } from '../../kafka/record.ts';
import { KafkaSink, type SinkContext } from '../../kafka/sink.ts';
import type { KafkaTargetConfiguration } from '../configuration/targets.ts';
import type { Failure, Target } from '../target.ts';

const BATCH = { messagesMax: 100, bytesMax: 900_000, isPartial: false };

/** Writes to a Kafka topic. */
export class KafkaTarget implements Target {
  readonly type = 'kafka';
  readonly remote: string;
  readonly batch = BATCH;
  readonly #configuration: KafkaTargetConfiguration;
  readonly #sink: KafkaSink;
  readonly #state: StateKeeper;

  constructor(rule: string, configuration: KafkaTargetConfiguration, context: SinkContext) {
    const { brokers, topic } = configuration;
    this.remote = `${brokers.join(',')} ${topic}`;
    this.#configuration = configuration;
    this.#state = new StateKeeper(
      () => context.clock.now(),
      (state, error) => context.log.info(`rule-kafka-${state}`, { rule, error }),
    );
    this.#sink = new KafkaSink({ ...configuration, out: [configuration] }, context, this.#state);
  }

  async send(batch: readonly Message[]): Promise<Failure | undefined> {
    const { recordBytesMax } = this.#configuration;
    const records = batch.map((message) =>
      recordOf(this.#configuration, message, message.properties.userProperties ?? []),
    );
    const large = batch.filter((_, index) => recordBytes(records[index] as never) > recordBytesMax);
    if (large.length > 0)
      return { messages: batch, error: `a record has more than ${recordBytesMax} bytes`, isPermanent: true };
    const taken = await Promise.all(
      records.map((record) => (this.#sink.takes(record) ? this.#sink.send(record) : false)),
    );
    const messages = batch.filter((_, index) => taken[index] !== true);
    if (messages.length === 0) return undefined;
    return { messages, error: this.#state.lastError ?? 'Kafka did not answer in time', isPermanent: false };
  }

  async stop(): Promise<void> {
    await this.#sink.stop();
  }
}
