import { expect } from 'vitest';
import {
  KEPT_PACKET_ID_MAX,
  type PageLimit,
  type Queued,
  type QueuedPublish,
  type QueueLimits,
} from '../src/index.ts';
import { summary } from './support.ts';

interface ModelMessage {
  readonly name: string;
  readonly qos: number;
  readonly bytes: number;
  readonly expiresAtMs: number | undefined;
}

interface ModelInflight {
  readonly message: ModelMessage;
  readonly packetId: number;
  isReleased: boolean;
  /** On this connection, as a PUBLISH or as a PUBREL. */
  isSent: boolean;
  /** As a PUBLISH on this connection. */
  isCounted: boolean;
}

/** A queue as the port describes it, with no thought for speed. Packet ids are the store's to choose. */
export class QueueModel {
  readonly limits: QueueLimits;
  /** Undefined while the session is offline. */
  #receiveMaximum: number | undefined;
  #waiting: ModelMessage[] = [];
  #inflight: ModelInflight[] = [];
  /** A full page has left expired messages behind: whether more wait, a store may learn with the next page. */
  #mayNotKnow = false;

  constructor(limits: QueueLimits, receiveMaximum: number) {
    this.limits = limits;
    this.#receiveMaximum = receiveMaximum;
  }

  offer(message: ModelMessage, isHeld: boolean, packetId: number, dropped: number, nowMs: number): void {
    const hasPlace = !isHeld && this.#messagesToResend().length === 0 && this.#room() > 0;
    const mayGo = hasPlace && this.#alive(nowMs).length === 0;
    const goes = packetId > 0;
    // A PUBREL that is to be sent again may keep it back, or not; so may a message that has expired.
    const isEitherRight = this.#isPubrelDue || this.#waiting.length > 0 || this.#mayNotKnow;
    if (!mayGo || !isEitherRight) expect(goes, `${message.name} may go at once`).toBe(mayGo);
    if (goes) this.#send(message, packetId);
    expect(dropped, `dropped for ${message.name}`).toBe(goes ? 0 : this.#wait(message));
  }

  get #isPubrelDue(): boolean {
    return this.#inflight.some(({ isReleased, isSent }) => isReleased && !isSent);
  }

  /** Checks what was dequeued, and takes note of it. */
  dequeue(dequeued: readonly Queued[], limit: PageLimit, nowMs: number): void {
    expect(dequeued.length).toBeLessThanOrEqual(limit.messages);
    // A store reads as many messages as the page has room for: expired ones may have filled it.
    const mayBeShort = dequeued.length > 0 && this.#alive(nowMs).length < this.#waiting.length;
    const pubrels = dequeued.filter((each) => each.type === 'pubrel');
    const messages = dequeued.filter((each) => each.type === 'publish');
    const bytes = messages.reduce(
      (sum, { message }) => sum + message.topic.length + message.payload.length,
      0,
    );
    if (dequeued.length > 1) expect(bytes).toBeLessThanOrEqual(limit.bytes);
    this.#dequeuePubrels(pubrels.map(({ packetId }) => packetId));
    for (const queued of messages) this.#dequeueMessage(queued, nowMs);
    this.#mayNotKnow &&= this.#isPageFull(dequeued.length, bytes, limit, nowMs);
    if (this.#receiveMaximum === undefined) expect(dequeued).toEqual([]);
    else if (!mayBeShort && !this.#isPageFull(dequeued.length, bytes, limit, nowMs))
      this.#checkNothingLeft(nowMs);
  }

  /** The packet id of one of those sent on this connection. */
  nthSent(nth: number): number | undefined {
    const sent = this.#inflight.filter(({ isSent }) => isSent);
    return this.#receiveMaximum === undefined || sent.length === 0
      ? undefined
      : sent[nth % sent.length]?.packetId;
  }

  complete(packetId: number): void {
    this.#inflight = this.#inflight.filter((each) => each.packetId !== packetId);
  }

  release(packetId: number): boolean {
    const entry = this.#inflight.find((each) => each.packetId === packetId);
    if (entry === undefined || entry.message.qos !== 2) return false;
    entry.isReleased = true;
    return true;
  }

  lose(): void {
    this.#receiveMaximum = undefined;
  }

  resume(receiveMaximum: number): void {
    this.#receiveMaximum = receiveMaximum;
    for (const entry of this.#inflight) {
      entry.isSent = false;
      entry.isCounted = false;
    }
  }

  /** Expired messages that wait may count or not. */
  checkLength(length: number, nowMs: number): void {
    expect(length).toBeGreaterThanOrEqual(this.#alive(nowMs).length);
    expect(length).toBeLessThanOrEqual(this.#waiting.length);
  }

  checkLeft(left: readonly QueuedPublish[], nowMs: number): void {
    const isAlive = ({ expiresAtMs }: ModelMessage) => expiresAtMs === undefined || expiresAtMs > nowMs;
    const inflight = this.#inflight.filter(({ isReleased }) => !isReleased).map(({ message }) => message);
    const expected = [...inflight, ...this.#waiting].filter(isAlive).map(({ name }) => name);
    const alive = new Set(expected);
    const names = left.map(({ message }) => Buffer.from(message.payload).toString());
    expect(names.filter((name) => alive.has(name))).toEqual(expected);
  }

  #isPageFull(length: number, bytes: number, limit: PageLimit, nowMs: number): boolean {
    if (length === 0) return false;
    const next = this.#messagesToResend()[0]?.message ?? this.#alive(nowMs)[0];
    const nextBytes = next === undefined || this.#room() === 0 ? 0 : next.bytes;
    return length >= limit.messages || bytes + nextBytes > limit.bytes;
  }

  #checkNothingLeft(nowMs: number): void {
    expect(this.#pubrelsToSend(), 'PUBRELs left').toEqual([]);
    if (this.#room() === 0) return;
    expect(this.#messagesToResend(), 'messages to be sent again').toEqual([]);
    expect(this.#alive(nowMs), 'messages left waiting').toEqual([]);
    // The remaining messages have expired.
    this.#waiting = [];
  }

  #dequeuePubrels(packetIds: readonly number[]): void {
    const expected = this.#pubrelsToSend().slice(0, packetIds.length);
    expect(packetIds).toEqual(expected.map(({ packetId }) => packetId));
    for (const entry of expected) entry.isSent = true;
  }

  #dequeueMessage(queued: QueuedPublish, nowMs: number): void {
    expect(this.#room(), 'room in the window').toBeGreaterThan(0);
    const [again] = this.#messagesToResend();
    if (again !== undefined) {
      expect(summary([queued])).toEqual([`${again.message.name}+`]);
      expect(queued.delivery.packetId).toBe(again.packetId);
      again.isSent = true;
      again.isCounted = true;
      return;
    }
    const [first] = this.#alive(nowMs);
    expect(summary([queued])).toEqual([first?.name]);
    if (first === undefined) return;
    const index = this.#waiting.indexOf(first);
    if (index > 0) this.#mayNotKnow = true;
    this.#waiting = this.#waiting.slice(index + 1);
    this.#send(first, queued.delivery.packetId);
  }

  #send(message: ModelMessage, packetId: number): void {
    expect(packetId).toBeGreaterThanOrEqual(1);
    expect(packetId).toBeLessThanOrEqual(KEPT_PACKET_ID_MAX);
    expect(this.#inflight.map((each) => each.packetId)).not.toContain(packetId);
    this.#inflight.push({ message, packetId, isReleased: false, isSent: true, isCounted: true });
  }

  /** Answers how many gave way. */
  #wait(message: ModelMessage): number {
    const { queueLengthMax, queueBytesMax, whenFull } = this.limits;
    const fits = (messages: readonly ModelMessage[]) =>
      messages.length <= queueLengthMax &&
      messages.reduce((sum, { bytes }) => sum + bytes, 0) <= queueBytesMax;
    const dropsItself = whenFull === 'drop-newest' ? !fits([...this.#waiting, message]) : !fits([message]);
    if (dropsItself) return 1;
    const before = this.#waiting.length;
    this.#waiting.push(message);
    while (!fits(this.#waiting)) this.#waiting.shift();
    return before + 1 - this.#waiting.length;
  }

  #room(): number {
    const used = this.#inflight.filter(({ isCounted }) => isCounted).length;
    return Math.max(0, (this.#receiveMaximum ?? 0) - used);
  }

  #messagesToResend(): ModelInflight[] {
    return this.#inflight.filter(({ isSent, isReleased }) => !isSent && !isReleased);
  }

  #pubrelsToSend(): ModelInflight[] {
    return this.#inflight.filter(({ isSent, isReleased }) => !isSent && isReleased);
  }

  #alive(nowMs: number): ModelMessage[] {
    return this.#waiting.filter(({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > nowMs);
  }
}
