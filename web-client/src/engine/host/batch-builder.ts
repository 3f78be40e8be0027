import { FRAMES_MAX, MARKS_MAX } from '../limits.ts';
import {
  type Batch,
  type FrameRow,
  MESSAGE_COLUMNS,
  MessageColumn,
  PACKET_COLUMNS,
  PacketColumn,
  type PublishOutcome,
} from '../protocol.ts';
import type { LogMark, MessageProperties, Qos } from '../types.ts';

/** A message before it is a row of a batch. */
export interface NewMessage {
  readonly isPublished: boolean;
  readonly atMs: number;
  readonly topic: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly packetId: number;
  readonly properties: MessageProperties | undefined;
  readonly subscriptionIds: readonly string[];
  readonly payloadOffset: number;
  readonly latencyMs: number | undefined;
  readonly missingBefore: number;
}

const BYTES_INITIAL = 64 * 1024;
const ROWS_INITIAL = 256;

/** Gathers packets and messages into a `Batch`. */
export class BatchBuilder {
  #bytes = new Uint8Array(BYTES_INITIAL);
  #length = 0;
  #packets = new Float64Array(ROWS_INITIAL * PACKET_COLUMNS);
  #packetCount = 0;
  #messages = new Float64Array(ROWS_INITIAL * MESSAGE_COLUMNS);
  #messageCount = 0;
  readonly #topics = new Map<string, number>();
  readonly #properties: (MessageProperties | undefined)[] = [];
  readonly #subscriptionIds: (readonly string[])[] = [];
  #frames: FrameRow[] = [];
  #links: number[] = [];
  readonly #outcomes: { readonly row: number; readonly outcome: PublishOutcome }[] = [];
  readonly #marks: { readonly row: number; readonly mark: LogMark }[] = [];

  get messageCount(): number {
    return this.#messageCount;
  }

  get byteLength(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return (
      this.#packetCount === 0 &&
      this.#messageCount === 0 &&
      this.#frames.length === 0 &&
      this.#links.length === 0 &&
      this.#marks.length === 0 &&
      this.#outcomes.length === 0
    );
  }

  /** @returns the packet's place, for `addMessage` */
  addPacket(id: number, bytes: Uint8Array, atMs: number, isOut: boolean): number {
    const offset = this.addBytes(bytes);
    const row = this.#packetCount * PACKET_COLUMNS;
    if (row + PACKET_COLUMNS > this.#packets.length) this.#packets = grown(this.#packets);
    this.#packets[row + PacketColumn.AtMs] = atMs;
    this.#packets[row + PacketColumn.IsOut] = isOut ? 1 : 0;
    this.#packets[row + PacketColumn.Offset] = offset;
    this.#packets[row + PacketColumn.Length] = bytes.length;
    this.#packets[row + PacketColumn.Id] = id;
    this.#packetCount += 1;
    return offset;
  }

  /** Bytes of a packet whose row was in an earlier batch. */
  addBytes(bytes: Uint8Array): number {
    const offset = this.#length;
    const needed = offset + bytes.length;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, offset));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, offset);
    this.#length = needed;
    return offset;
  }

  addMessage(message: NewMessage, offset: number, length: number): void {
    const row = this.#messageCount * MESSAGE_COLUMNS;
    if (row + MESSAGE_COLUMNS > this.#messages.length) this.#messages = grown(this.#messages);
    const flags =
      (message.isPublished ? 1 : 0) | (message.qos << 1) | (message.retain ? 8 : 0) | (message.dup ? 16 : 0);
    this.#messages[row + MessageColumn.AtMs] = message.atMs;
    this.#messages[row + MessageColumn.Flags] = flags;
    this.#messages[row + MessageColumn.PacketId] = message.packetId;
    this.#messages[row + MessageColumn.Topic] = this.#topicIndex(message.topic);
    this.#messages[row + MessageColumn.Offset] = offset;
    this.#messages[row + MessageColumn.Length] = length;
    this.#messages[row + MessageColumn.PayloadOffset] = message.payloadOffset;
    this.#messages[row + MessageColumn.LatencyMs] = message.latencyMs ?? Number.NaN;
    this.#messages[row + MessageColumn.MissingBefore] = message.missingBefore;
    this.#properties.push(message.properties);
    this.#subscriptionIds.push(message.subscriptionIds);
    this.#messageCount += 1;
  }

  /** The page does not get more than its log would keep. */
  addFrame(row: Omit<FrameRow, 'offset' | 'length'>, bytes: Uint8Array): void {
    if (this.#frames.length >= FRAMES_MAX) return;
    this.#frames.push({ ...row, offset: this.addBytes(bytes), length: bytes.length });
  }

  addLink(packetId: number, frame: number): void {
    this.#links.push(packetId, frame);
  }

  /** Only the newest are kept, as many as a log holds. */
  addMark(mark: LogMark): void {
    if (this.#marks.length === MARKS_MAX) this.#marks.shift();
    this.#marks.push({ row: this.#messageCount, mark });
  }

  addOutcome(outcome: PublishOutcome): void {
    this.#outcomes.push({ row: this.#messageCount, outcome });
  }

  get outcomeCount(): number {
    return this.#outcomes.length;
  }

  build(): Batch {
    return {
      bytes: this.#bytes.slice(0, this.#length).buffer,
      packets: this.#packets.slice(0, this.#packetCount * PACKET_COLUMNS),
      messages: this.#messages.slice(0, this.#messageCount * MESSAGE_COLUMNS),
      topics: [...this.#topics.keys()],
      properties: [...this.#properties],
      subscriptionIds: [...this.#subscriptionIds],
      frames: this.#frames,
      links: this.#links,
      marks: [...this.#marks],
      outcomes: [...this.#outcomes],
    };
  }

  /** Empties it; its buffers are used again. */
  reset(): void {
    this.#length = 0;
    this.#packetCount = 0;
    this.#messageCount = 0;
    this.#topics.clear();
    this.#properties.length = 0;
    this.#subscriptionIds.length = 0;
    this.#frames = [];
    this.#links = [];
    this.#marks.length = 0;
    this.#outcomes.length = 0;
  }

  #topicIndex(topic: string): number {
    let index = this.#topics.get(topic);
    if (index === undefined) {
      index = this.#topics.size;
      this.#topics.set(topic, index);
    }
    return index;
  }
}

function grown(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(column.length * 2);
  larger.set(column);
  return larger;
}
