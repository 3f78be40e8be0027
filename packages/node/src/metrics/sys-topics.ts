import { NODE_NAME } from '@apus/api';
import type { Broker, Log } from '@apus/broker';
import type { Scheduler } from '@apus/door';
import { type FigureSources, metricsOf, statsOf } from '@apus/door';
import { Violation } from '@apus/mqtt';
import manifest from '../../package.json' with { type: 'json' };
import { TENANT } from '../auth/anonymous.ts';

/** EMQX's `sys_topics.sys_msg_interval`. */
export const SYS_INTERVAL_SECONDS = 60;
/** EMQX's `sys_topics.sys_heartbeat_interval`. */
export const SYS_HEARTBEAT_SECONDS = 30;

const DESCRIPTION = 'Apus MQTT broker';
const PREFIX = `$SYS/brokers/${NODE_NAME}`;

export interface SysTopicsOptions {
  readonly broker: Pick<Broker, 'publish'>;
  readonly sources: FigureSources;
  readonly clock: Scheduler;
  readonly log: Log;
  readonly uptimeMs: () => number;
  /** Seconds between two publications; 0: none. */
  readonly intervalSeconds: number;
  readonly heartbeatSeconds: number;
}

/**
 * `$SYS/brokers/…` of the tenant `default`, as EMQX has them: version, description and the list of nodes, retained, with
 * all figures at each interval, and uptime and time at each heartbeat.
 */
export class SysTopics {
  readonly #options: SysTopicsOptions;
  #cancels: (() => void)[] = [];

  constructor(options: SysTopicsOptions) {
    this.#options = options;
  }

  start(): void {
    const { intervalSeconds, heartbeatSeconds } = this.#options;
    this.#cancels = [
      this.#every(intervalSeconds, () => this.#tellAll()),
      this.#every(heartbeatSeconds, () => this.#tellTime()),
    ];
  }

  stop(): void {
    for (const cancel of this.#cancels) cancel();
  }

  #every(seconds: number, publish: () => Promise<void>): () => void {
    if (seconds === 0) return () => {};
    const { clock, log } = this.#options;
    let cancel = () => {};
    const wait = () => {
      cancel = clock.after(seconds * 1000, () => {
        publish().catch((error: unknown) => log.error('sys-topics-failed', { error: String(error) }));
        wait();
      });
    };
    wait();
    return () => cancel();
  }

  async #tellAll(): Promise<void> {
    const { sources } = this.#options;
    await this.#publish('$SYS/brokers', NODE_NAME, true);
    await this.#publish(`${PREFIX}/version`, manifest.version, true);
    await this.#publish(`${PREFIX}/sysdescr`, DESCRIPTION, true);
    await this.#tellFigures('stats', statsOf(sources));
    await this.#tellFigures('metrics', metricsOf(sources));
  }

  async #tellTime(): Promise<void> {
    const { clock, uptimeMs } = this.#options;
    await this.#publish(`${PREFIX}/uptime`, String(uptimeMs()), false);
    await this.#publish(`${PREFIX}/datetime`, new Date(clock.now()).toISOString(), false);
  }

  /** `messages.received` is told under `metrics/messages/received`. */
  async #tellFigures(kind: 'stats' | 'metrics', figures: Readonly<Record<string, number>>): Promise<void> {
    for (const [name, value] of Object.entries(figures))
      await this.#publish(`${PREFIX}/${kind}/${name.replaceAll('.', '/')}`, String(value), false);
  }

  async #publish(topic: string, text: string, retain: boolean): Promise<void> {
    const { broker, log } = this.#options;
    const payload = Buffer.from(text);
    const answer = await broker.publish({ tenant: TENANT, topic, payload, qos: 0, retain, properties: {} });
    if (answer instanceof Violation) log.warn('sys-topic-refused', { topic, reason: answer.reason });
  }
}
