import { type Awaitable, type Clock, steadyNow, TURN_MS_MAX } from '@apus/broker';
import type { Packet, Violation } from '@apus/mqtt';
import type { Inbound } from './inbound.ts';

/** After this many packets of one client, or after `TURN_MS_MAX`, other clients have their turn. */
const PACKETS_PER_TURN = 256;

/** The work that a link does in its turns. */
export interface TurnHandlers {
  /** @param nowMs by the clock without steps */
  handle(packet: Packet | Violation, nowMs: number): Awaitable<void>;
  lost(why: string): Awaitable<void>;
  /** A call threw or was rejected, or the input cannot be read. */
  failed(error: unknown): void;
  /** No packet may be handed over now; `advance` is called when that changes. */
  isStalled(): boolean;
  /** Bytes that wait may have become more or fewer. */
  waiting(): void;
}

/** A call on the broker that has not been answered. */
interface Call {
  /** The next packet may join it. */
  isUnderWay: boolean;
}

/**
 * The calls on the broker for one link, one after another: at once while the broker answers at once, else the next call
 * waits until its promise has resolved or rejected, or the broker has called `goOn`.
 */
export class Turns {
  readonly #inbound: Inbound;
  readonly #handlers: TurnHandlers;
  readonly #clock: Clock;
  /** Calls that are made before the waiting packets are handled. */
  #calls: (() => Awaitable<void>)[] | undefined;
  #isBusy = false;
  /** The broker has called `goOn` in the last call. */
  #hasGoneOn = false;
  /** The last call, when it has returned a promise. */
  #waiting: Call | undefined;
  /** Calls that are not answered, for which the broker has called `goOn`. */
  #underWay = 0;
  #isAdvancing = false;
  #isClosed = false;
  #continues = false;
  #lostBecause: string | undefined;
  /** Undefined: the turn has made no call yet. */
  #beganAtMs: number | undefined;
  #isOver = false;
  /** It came when the turn was over, or may not join what is under way. */
  #postponed: Packet | Violation | undefined;

  constructor(inbound: Inbound, handlers: TurnHandlers, clock: Clock) {
    this.#inbound = inbound;
    this.#handlers = handlers;
    this.#clock = clock;
  }

  /** The broker has not answered all calls. */
  get isBusy(): boolean {
    return this.#isBusy || this.#underWay > 0;
  }

  /** Packets that `mayJoin` may be handed over before the broker has answered its last call. */
  goOn(): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    this.#hasGoneOn = true;
    if (this.#waiting !== undefined) this.#waiting.isUnderWay = true;
    this.#underWay += 1;
    // The broker is at work.
    if (!this.#isAdvancing) queueMicrotask(() => this.advance());
  }

  /** The bytes may be written to when this has returned. */
  push(bytes: Uint8Array, start = 0, end = bytes.length): void {
    if (this.#isClosed) return;
    this.#inbound.push(bytes, start, end);
    this.advance();
  }

  call(call: () => Awaitable<void>): void {
    this.#calls ??= [];
    this.#calls.push(call);
    this.advance();
  }

  /** No packet is handed over any more. */
  close(): void {
    this.#isClosed = true;
    this.#postponed = undefined;
    this.#inbound.clear();
  }

  /** Reports the end of the connection after the packets that came before it: a DISCONNECT may be among them. */
  end(why: string): void {
    this.#lostBecause = why;
    this.advance();
  }

  advance(): void {
    // A call on the broker may come back to here. Then the loop below goes on after it.
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    this.#beganAtMs = undefined;
    this.#isOver = false;
    let left = PACKETS_PER_TURN;
    try {
      while (left > 0 && this.#guardedStep()) left = this.#isOver ? 0 : left - 1;
    } finally {
      this.#isAdvancing = false;
    }
    this.#inbound.keep();
    this.#handlers.waiting();
    if (left === 0) this.#continueLater();
  }

  #guardedStep(): boolean {
    try {
      return this.#step();
    } catch (error) {
      this.#handlers.failed(error);
      return true;
    }
  }

  /** Makes the next call on the broker. False when there is none, or none may be made now. */
  #step(): boolean {
    if (this.#isBusy) return false;
    if (this.#calls !== undefined && this.#calls.length > 0) return this.#underWay === 0 && this.#runNext();
    const isLost = this.#lostBecause !== undefined;
    if (!isLost && this.#handlers.isStalled()) return false;
    const packet = this.#isClosed ? undefined : (this.#postponed ?? this.#inbound.next());
    if (packet !== undefined) return this.#handIfAllowed(packet);
    return isLost && this.#underWay === 0 && this.#finish(this.#lostBecause ?? '');
  }

  #runNext(): boolean {
    const call = this.#calls?.shift();
    return call !== undefined && this.#run(call);
  }

  #handIfAllowed(packet: Packet | Violation): boolean {
    if (this.#underWay === 0 || mayJoin(packet)) return this.#hand(packet);
    this.#postponed = packet;
    return false;
  }

  #finish(why: string): boolean {
    this.#lostBecause = undefined;
    this.close();
    return this.#run(() => this.#handlers.lost(why));
  }

  #hand(packet: Packet | Violation): true {
    const nowMs = this.#look();
    this.#postponed = this.#isOver ? packet : undefined;
    if (this.#isOver) return true;
    this.#make(() => this.#handlers.handle(packet, nowMs));
    return true;
  }

  #run(call: () => Awaitable<void>): true {
    this.#look();
    this.#make(call);
    return true;
  }

  /** Reads the clock, once for each call. */
  #look(): number {
    const nowMs = steadyNow(this.#clock);
    this.#beganAtMs ??= nowMs;
    this.#isOver = nowMs - this.#beganAtMs >= TURN_MS_MAX;
    return nowMs;
  }

  #make(call: () => Awaitable<void>): void {
    this.#isBusy = true;
    this.#hasGoneOn = false;
    this.#waiting = undefined;
    let answer: Awaitable<void>;
    try {
      answer = call();
    } catch (error) {
      this.#answered(this.#hasGoneOn);
      throw error;
    }
    if (answer instanceof Promise) this.#wait(answer);
    else this.#answered(this.#hasGoneOn);
  }

  async #wait(answer: Promise<void>): Promise<void> {
    const call: Call = { isUnderWay: this.#hasGoneOn };
    this.#waiting = call;
    try {
      await answer;
      this.#answered(call.isUnderWay);
    } catch (error) {
      this.#answered(call.isUnderWay);
      this.#handlers.failed(error);
    }
    this.advance();
  }

  #answered(isUnderWay: boolean): void {
    if (isUnderWay) this.#underWay -= 1;
    else this.#isBusy = false;
  }

  #continueLater(): void {
    if (this.#continues) return;
    this.#continues = true;
    setImmediate(() => {
      this.#continues = false;
      this.advance();
    });
  }
}

/** PUBLISH at QoS 1 is accepted in order while others are (`Link.publishOrder`), and PUBACK is about another message. */
function mayJoin(packet: Packet | Violation): boolean {
  return 'type' in packet && ((packet.type === 'publish' && packet.qos === 1) || packet.type === 'puback');
}
