import { Client, type Kept } from './client.ts';
import { Ledger } from './ledger.ts';

const PUBLISHERS: readonly { readonly name: string; readonly qos: Kept }[] = [
  { name: 'one-a', qos: 1 },
  { name: 'one-b', qos: 1 },
  { name: 'two-a', qos: 2 },
  { name: 'two-b', qos: 2 },
];

/** Messages of one publisher that may be unacknowledged at a time. */
const WINDOW = 10;

/** Every so many messages one more is retained. */
const RETAIN_EVERY = 5;

/** Each publishes at most this often: slower than the other subscriber reads its queue. */
const PUBLISH_MS = 4;

/**
 * Publishers that never stop; a subscriber that comes back at once; one that is away when the broker dies and reads
 * the messages kept for it. All subscribe at QoS 2, so that each message comes as it was published.
 */
export class Traffic {
  readonly ledger = new Ledger(PUBLISHERS);
  readonly always: Client;
  readonly sometimes: Client;
  readonly failures: string[] = [];
  readonly #url: string;
  readonly #publishers: Client[] = [];
  readonly #pumps: NodeJS.Timeout[] = [];

  constructor(url: string) {
    this.#url = url;
    this.always = this.#subscriber('always');
    this.sometimes = this.#subscriber('sometimes');
  }

  /** True when all clients have a connection. */
  get isRunning(): boolean {
    return this.always.isConnected && this.#publishers.every(({ isConnected }) => isConnected);
  }

  get unacknowledged(): number {
    return this.#publishers.reduce((sum, { unacknowledged }) => sum + unacknowledged, 0);
  }

  startPublishing(): void {
    for (const { name, qos } of PUBLISHERS) {
      const client = new Client({ url: this.#url, clientId: name, failed: this.#failed });
      this.#publishers.push(client);
      client.start();
      this.#pumps.push(setInterval(() => this.#pump(client, name, qos), PUBLISH_MS));
    }
  }

  stopPublishing(): void {
    for (const pump of this.#pumps) clearInterval(pump);
  }

  end(): void {
    this.stopPublishing();
    for (const client of [...this.#publishers, this.always, this.sometimes]) client.vanish();
  }

  #pump(client: Client, name: string, qos: Kept): void {
    if (client.unacknowledged >= WINDOW) return;
    const number = this.ledger.publish(name);
    client.publish(`live/${name}`, `${number}`, qos, false, () => this.ledger.acknowledged(name, number));
    if (number % RETAIN_EVERY !== 0) return;
    const kept = () => this.ledger.retained(name, number);
    client.publish(`kept/${name}`, `${number}`, qos, true, kept);
  }

  #subscriber(clientId: string): Client {
    const received = (topic: string, payload: string) => {
      const failure = this.ledger.received(clientId, topic.slice('live/'.length), Number(payload));
      if (failure !== undefined) this.#failed(failure);
    };
    return new Client({ url: this.#url, clientId, subscribe: 'live/#', received, failed: this.#failed });
  }

  readonly #failed = (reason: string): void => {
    this.failures.push(reason);
  };
}
