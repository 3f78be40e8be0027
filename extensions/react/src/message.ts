import type { IPublishPacket } from 'mqtt';

/** User properties of MQTT: a name that occurs several times has a list. */
export type UserProperties = Readonly<Record<string, string | readonly string[]>>;

const utf8 = new TextDecoder();

let keys = 0;

/** A received message. It does not change, so components may keep it. */
export class Message {
  /** Unique on the page and ascending: for React's `key`. */
  readonly key: number;
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1 | 2;
  /** RETAIN was set: the message was published before the subscription. */
  readonly isRetained: boolean;
  readonly userProperties: UserProperties;
  /** In ms since the epoch, by the clock of the page. */
  readonly receivedAtMs: number;
  #text: string | undefined;
  #json: { readonly value: unknown } | undefined;

  constructor(packet: IPublishPacket, nowMs: number) {
    keys += 1;
    this.key = keys;
    this.topic = packet.topic;
    this.payload =
      typeof packet.payload === 'string' ? new TextEncoder().encode(packet.payload) : packet.payload;
    this.qos = packet.qos;
    this.isRetained = packet.retain;
    this.userProperties = (packet.properties?.userProperties ?? {}) as UserProperties;
    this.receivedAtMs = nowMs;
  }

  /** The payload as UTF-8; invalid bytes become U+FFFD. */
  get text(): string {
    this.#text ??= utf8.decode(this.payload);
    return this.#text;
  }

  /**
   * The payload as JSON, or undefined if it is no JSON: a publisher's mistake must not break the page. The type is not
   * checked.
   */
  json<T = unknown>(): T | undefined {
    this.#json ??= { value: parsed(this.text) };
    return this.#json.value as T | undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
