import type { Awaitable, Message, Outlet } from '@apus/broker';
import type { BridgesContext } from '@apus/node';
import { type Bridge, newCounts, StateKeeper } from '../bridge.ts';
import type { KafkaBridgeConfiguration } from '../configuration/kafka.ts';
import { withHop } from '../hops.ts';
import { mappingFor, recordOf } from './record.ts';
import { KafkaSink } from './sink.ts';
import { KafkaSource } from './source.ts';

/** A bridge to a cluster of Kafka: a consumer group, and a producer that publishers wait for. */
export class KafkaBridge implements Bridge, Outlet {
  readonly name: string;
  readonly tenant: string;
  readonly #configuration: KafkaBridgeConfiguration;
  readonly #source: KafkaSource | undefined;
  readonly #sink: KafkaSink | undefined;
  readonly #sourceState: StateKeeper;
  readonly #sinkState: StateKeeper;
  readonly #out = newCounts();

  constructor(configuration: KafkaBridgeConfiguration, context: BridgesContext) {
    this.name = configuration.name;
    this.tenant = configuration.tenant;
    this.#configuration = configuration;
    this.#sourceState = this.#stateKeeper(context, 'in');
    this.#sinkState = this.#stateKeeper(context, 'out');
    if (configuration.in.length > 0 || configuration.topics !== undefined)
      this.#source = new KafkaSource(configuration, context, this.#sourceState);
    if (configuration.out.length > 0) this.#sink = new KafkaSink(configuration, context, this.#sinkState);
  }

  async start(): Promise<void> {
    this.#source?.start();
    void this.#sink?.start();
  }

  take(tenant: string, message: Message, isAnswered: boolean): Awaitable<boolean> | undefined {
    if (tenant !== this.tenant || this.#sink === undefined) return undefined;
    const mapping = mappingFor(this.#configuration.out, message.topic);
    if (mapping === undefined) return undefined;
    const userProperties = withHop(message.properties.userProperties, this.#configuration.hopsMax);
    if (userProperties === undefined) {
      this.#out.looped += 1;
      return undefined;
    }
    const record = recordOf(mapping, message, userProperties);
    if (!this.#sink.takes(record)) return this.#refuse(isAnswered);
    if (isAnswered) return this.#sent(this.#sink.send(record));
    this.#sink.post(record);
    this.#out.forwarded += 1;
    return true;
  }

  async status(): Promise<object> {
    const { name, brokers, group } = this.#configuration;
    return {
      ...{ name, type: 'kafka', remote: brokers.join(','), group },
      ...this.#worse().toJSON(),
      in: { ...this.#source?.counts, lag: (await this.#source?.lag()) ?? null },
      out: { ...this.#out, waiting: this.#sink?.waiting ?? 0 },
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.#source?.stop(), this.#sink?.stop()]);
    for (const state of [this.#sourceState, this.#sinkState]) state.set('stopped');
  }

  /** The state of the direction that has failed, if one has. */
  #worse(): StateKeeper {
    if (this.#source === undefined) return this.#sinkState;
    return this.#sink !== undefined && this.#sinkState.state === 'disconnected'
      ? this.#sinkState
      : this.#sourceState;
  }

  #refuse(isAnswered: boolean): boolean {
    if (isAnswered) this.#out.refused += 1;
    else this.#out.dropped += 1;
    return !isAnswered;
  }

  async #sent(sent: Promise<boolean>): Promise<boolean> {
    const isTaken = await sent;
    if (isTaken) this.#out.forwarded += 1;
    else this.#out.refused += 1;
    return isTaken;
  }

  #stateKeeper({ clock, log }: BridgesContext, direction: 'in' | 'out'): StateKeeper {
    return new StateKeeper(
      () => clock.now(),
      (state, error) => {
        const level = state === 'disconnected' ? 'warn' : 'info';
        log[level](`bridge-${state}`, { bridge: this.name, direction, error });
      },
    );
  }
}
