import type { LoggedMessage, MessageProperties, PublishFate, Qos } from '../types.ts';

/** The fields of a message. `chunk` holds the bytes of many packets; this message's are a slice of it. */
export interface MessageFields {
  readonly connectionId: string;
  readonly direction: 'received' | 'published';
  readonly atMs: number;
  readonly topic: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly packetId: number | undefined;
  readonly properties: MessageProperties;
  readonly subscriptionIds: readonly string[];
  readonly chunk: Uint8Array;
  readonly packetOffset: number;
  readonly packetLength: number;
  /** From the beginning of the packet. The payload is all that follows. */
  readonly payloadOffset: number;
  readonly latencyMs: number | undefined;
  /** Below 0 for a message that fills an earlier gap. */
  readonly missingBefore: number;
}

const decoder = new TextDecoder('utf-8');

const SENT: PublishFate = { state: 'sent', code: undefined, detail: '' };

/** A character takes at most four bytes of UTF-8. */
const BYTES_PER_CHARACTER_MAX = 4;

/** A view of the chunk of its batch: it costs little, and a payload is only decoded when it is read. */
export class Message implements LoggedMessage {
  readonly sequence: number;
  readonly connectionId: string;
  readonly direction: 'received' | 'published';
  readonly atMs: number;
  readonly topic: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly packetId: number | undefined;
  readonly properties: MessageProperties;
  readonly subscriptionIds: readonly string[];
  readonly packetLength: number;
  readonly latencyMs: number | undefined;
  #missingBefore: number;
  readonly #chunk: Uint8Array;
  readonly #offset: number;
  readonly #payloadOffset: number;
  #fate: PublishFate | undefined;

  constructor(sequence: number, fields: MessageFields) {
    this.sequence = sequence;
    this.connectionId = fields.connectionId;
    this.direction = fields.direction;
    this.atMs = fields.atMs;
    this.topic = fields.topic;
    this.qos = fields.qos;
    this.retain = fields.retain;
    this.dup = fields.dup;
    this.packetId = fields.packetId;
    this.properties = fields.properties;
    this.subscriptionIds = fields.subscriptionIds;
    this.packetLength = fields.packetLength;
    this.latencyMs = fields.latencyMs;
    this.#missingBefore = Math.max(0, fields.missingBefore);
    this.#chunk = fields.chunk;
    this.#offset = fields.packetOffset;
    this.#payloadOffset = fields.payloadOffset;
    this.#fate = fields.direction === 'published' ? SENT : undefined;
  }

  get fate(): PublishFate | undefined {
    return this.#fate;
  }

  get missingBefore(): number {
    return this.#missingBefore;
  }

  /** One of the messages that were missing has come late. */
  fillGap(): void {
    this.#missingBefore -= 1;
  }

  /** The server's answer. */
  resolve(fate: PublishFate): void {
    this.#fate = fate;
  }

  get payloadLength(): number {
    return this.packetLength - this.#payloadOffset;
  }

  get payload(): Uint8Array {
    return this.#slice(this.#payloadOffset, this.packetLength);
  }

  get packet(): Uint8Array {
    return this.#slice(0, this.packetLength);
  }

  text(charactersMax = Number.POSITIVE_INFINITY): string {
    const bytesMax = this.#payloadOffset + charactersMax * BYTES_PER_CHARACTER_MAX;
    const text = decoder.decode(this.#slice(this.#payloadOffset, Math.min(this.packetLength, bytesMax)));
    return text.length > charactersMax ? text.slice(0, charactersMax) : text;
  }

  #slice(from: number, to: number): Uint8Array {
    return this.#chunk.subarray(this.#offset + from, this.#offset + to);
  }
}
