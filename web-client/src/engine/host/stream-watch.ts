import type { MqttClient, Packet } from 'mqtt';
import { isReading } from '../stream-reading.ts';
import type { LogMark } from '../types.ts';
import { fromMqttUserProperties, type MqttUserProperties } from './mqtt-properties.ts';

type Suback = Extract<Packet, { cmd: 'suback' }>;

/** From here on the codes of SUBACK are refusals. */
const FAILURE = 0x80;

export interface StreamWatchOptions {
  now(): number;
  mark(mark: LogMark): void;
}

/**
 * Learns whether the broker could close the gaps of subscriptions that read streams, and reports a gap where its
 * messages would have been. `resume` of `@apus/client` asks for the messages; this class only listens.
 */
export class StreamWatch {
  readonly #options: StreamWatchOptions;
  /** The filters by the packet identifiers of unanswered SUBSCRIBEs. */
  readonly #asked = new Map<number, string>();
  /** Filters that were granted, with the client that knows their positions. */
  readonly #granted = new Map<string, MqttClient>();

  constructor(options: StreamWatchOptions) {
    this.#options = options;
  }

  get isReading(): boolean {
    return this.#granted.size > 0;
  }

  /** Behind `resume`, which replaces what the SUBSCRIBE asks for. */
  attach(client: MqttClient): void {
    this.#asked.clear();
    client.on('packetsend', (packet) => this.#sent(packet));
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'suback') this.#answered(client, packet);
    });
    client.on('close', () => this.#asked.clear());
  }

  #sent(packet: Packet): void {
    if (packet.cmd === 'unsubscribe')
      for (const filter of packet.unsubscriptions) this.#granted.delete(filter);
    if (packet.cmd !== 'subscribe' || packet.messageId === undefined) return;
    const [subscription] = packet.subscriptions;
    const given = fromMqttUserProperties(packet.properties?.userProperties as MqttUserProperties | undefined);
    if (subscription !== undefined && isReading(subscription.topic, given))
      this.#asked.set(packet.messageId, subscription.topic);
  }

  #answered(client: MqttClient, { messageId = 0, granted, properties }: Suback): void {
    const filter = this.#asked.get(messageId);
    this.#asked.delete(messageId);
    if (filter === undefined) return;
    const before = this.#granted.get(filter);
    const said = fromMqttUserProperties(properties?.userProperties as MqttUserProperties | undefined);
    const recovered = said.find(([name]) => name === 'stream-recovered')?.[1];
    const isRefused = Number(granted[0]) >= FAILURE;
    if (isRefused || recovered === undefined) this.#granted.delete(filter);
    else this.#granted.set(filter, client);
    // The very first answer only begins; it closes no gap.
    if (before === undefined && (isRefused || recovered !== 'false')) return;
    const { mark, now } = this.#options;
    const goesOn = recovered === 'true' && before === client;
    const count = goesOn ? missed(said) : 0;
    if (!goesOn || count > 0) mark({ kind: 'stream', atMs: now(), filter, isRecovered: goesOn, count });
  }
}

/** How many messages follow that were published after the client's position. */
function missed(said: readonly (readonly [name: string, value: string])[]): number {
  const after = numbersOf(said, 'stream-after');
  const newest = numbersOf(said, 'stream-position');
  let count = 0;
  for (const [topic, number] of after) count += Math.max(0, (newest.get(topic) ?? number) - number);
  return count;
}

/** The numbers of positions by their topics; of a filter without wildcards there is one, without a topic. */
function numbersOf(
  said: readonly (readonly [name: string, value: string])[],
  wanted: 'stream-position' | 'stream-after',
): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const [name, value] of said) {
    const [, number, topic = ''] = /^[0-9a-z]+-(\d+)(?:-\d+)?(?: (.*))?$/s.exec(value) ?? [];
    if (name === wanted && number !== undefined) numbers.set(topic, Number(number));
  }
  return numbers;
}
