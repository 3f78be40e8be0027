import type { ServerResponse } from 'node:http';
import { steadyNow } from '@apus/broker';
import type { ApiAnswer, Scheduler } from '@apus/door';
import { write } from '../api/router.ts';

export interface EventAnswerOptions {
  readonly response: ServerResponse;
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly scheduler: Scheduler;
  /** The time for the client to read the end of the answer. */
  readonly closeTimeoutMs: number;
}

/** The HTTP answer that carries events: an error before it begins, then text, then an end. */
export class EventAnswer {
  readonly #options: EventAnswerOptions;
  #text = '';
  #isEnded = false;
  #waitsSinceMs: number | undefined;

  /** @param over called when the client has all of the answer, is cut because it does not take it, or has gone */
  constructor(options: EventAnswerOptions, over: () => void) {
    this.#options = options;
    options.response.on('close', over);
  }

  get hasBegun(): boolean {
    return this.#options.response.headersSent;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Characters that wait for the beginning, or for `flush`. */
  get heldLength(): number {
    return this.#text.length;
  }

  /** The client has not taken what was written. */
  get isWaiting(): boolean {
    return this.#waitsSinceMs !== undefined;
  }

  /** For how long. */
  get waitsMs(): number {
    const nowMs = steadyNow(this.#options.scheduler);
    return nowMs - (this.#waitsSinceMs ?? nowMs);
  }

  /** From here on the client is sent what is added. */
  begin(): void {
    const { response, headers } = this.#options;
    if (!this.hasBegun) response.writeHead(200, { 'Content-Type': 'text/event-stream', ...headers });
  }

  add(text: string): void {
    if (!this.#isEnded) this.#text += text;
  }

  /** @param done called when the client takes more, at once before the answer has begun */
  flush(done = () => {}): void {
    const { response, scheduler } = this.#options;
    if (!this.#isEnded && this.hasBegun && this.#text !== '') {
      response.write(this.#text);
      this.#text = '';
    }
    if (this.#isEnded || !response.writableNeedDrain) {
      done();
      return;
    }
    this.#waitsSinceMs ??= steadyNow(scheduler);
    response.once('drain', () => {
      this.#waitsSinceMs = undefined;
      done();
    });
  }

  refuse(answer: ApiAnswer): void {
    const { response, headers } = this.#options;
    this.#finish(() => write(response, { ...answer, headers: { ...headers, ...answer.headers } }));
  }

  /** @param text behind everything that was added */
  end(text: string): void {
    const rest = this.#text + text;
    this.#finish(() => this.#options.response.end(rest));
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#isEnded = true;
    this.#text = '';
    this.#options.response.destroy();
  }

  #finish(answer: () => void): void {
    const { response, scheduler, closeTimeoutMs } = this.#options;
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#text = '';
    this.#waitsSinceMs = undefined;
    if (response.destroyed) return;
    const cancelCut = scheduler.after(closeTimeoutMs, () => response.destroy());
    response.once('close', cancelCut);
    answer();
  }
}
