import type { Awaitable } from '@apus/broker';
import type { Packet, Violation } from '@apus/mqtt';
import type { Inbound } from './inbound.ts';

/** After so many packets of one client, the others have their turn. */
const PACKETS_PER_TURN = 256;

/** The work that a link does in its turns. */
export interface TurnHandlers {
  receive(packet: Packet | Violation): Awaitable<void>;
  lost(why: string): Awaitable<void>;
  /** A call threw or was rejected. */
  failed(error: unknown): void;
  /** No packet may be handed over now; `advance` is called when that changes. */
  isStalled(): boolean;
  /** Bytes that wait have become more or fewer. */
  waiting(bytes: number): void;
}

/**
 * The calls on the broker for one link, one after another: at once while the broker answers at once, else the next call
 * waits until its promise is settled.
 */
export class Turns {
  readonly #inbound: Inbound;
  readonly #handlers: TurnHandlers;
  /** Calls that go before the packets that wait. */
  readonly #calls: (() => Awaitable<void>)[] = [];
  #isBusy = false;
  #isClosed = false;
  #continues = false;
  #lostBecause: string | undefined;

  constructor(inbound: Inbound, handlers: TurnHandlers) {
    this.#inbound = inbound;
    this.#handlers = handlers;
  }

  /** The broker has not answered the last call. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  push(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    this.#inbound.push(bytes);
    this.advance();
  }

  call(call: () => Awaitable<void>): void {
    this.#calls.push(call);
    this.advance();
  }

  /** No packet is handed over any more. */
  close(): void {
    this.#isClosed = true;
    this.#inbound.clear();
  }

  /** The end of the connection is told behind the packets that came before it: a DISCONNECT may be among them. */
  end(why: string): void {
    this.#lostBecause = why;
    this.advance();
  }

  advance(): void {
    let left = PACKETS_PER_TURN;
    while (left > 0 && this.#step()) left -= 1;
    this.#handlers.waiting(this.#inbound.bytes);
    if (left === 0) this.#continueLater();
  }

  /** Makes the next call on the broker. False when there is none, or none may be made now. */
  #step(): boolean {
    if (this.#isBusy) return false;
    const call = this.#calls.shift();
    if (call !== undefined) return this.#run(call);
    const isLost = this.#lostBecause !== undefined;
    if (!isLost && this.#handlers.isStalled()) return false;
    const packet = this.#isClosed ? undefined : this.#inbound.next();
    if (packet !== undefined) return this.#run(() => this.#handlers.receive(packet));
    return isLost && this.#finish(this.#lostBecause ?? '');
  }

  #finish(why: string): boolean {
    this.#lostBecause = undefined;
    this.close();
    return this.#run(() => this.#handlers.lost(why));
  }

  #run(call: () => Awaitable<void>): true {
    this.#isBusy = true;
    try {
      const answer = call();
      if (answer instanceof Promise) this.#wait(answer);
      else this.#isBusy = false;
    } catch (error) {
      this.#failed(error);
    }
    return true;
  }

  async #wait(answer: Promise<void>): Promise<void> {
    try {
      await answer;
      this.#isBusy = false;
    } catch (error) {
      this.#failed(error);
    }
    this.advance();
  }

  #failed(error: unknown): void {
    this.#isBusy = false;
    this.#handlers.failed(error);
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
