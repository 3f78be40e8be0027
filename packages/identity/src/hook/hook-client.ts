import { type Log, reasonOf, steadyNow } from '@apus/broker';
import { HolderBreaker } from './holder-breaker.ts';
import { type HookLimits, LOG_INTERVAL_MS } from './limits.ts';
import { QuestionBytes } from './question-bytes.ts';
import { QuestionQueue } from './question-queue.ts';
import type { HookRequest } from './request-template.ts';
import type { HookTimers } from './system-timers.ts';

export interface HookAnswer {
  readonly status: number;
  /** The header, unchanged; empty without one. */
  readonly contentType: string;
  readonly body: string;
}

/** Carries a request: over HTTP, or to a Lambda function. */
export interface HookSender {
  /** Does not follow redirects. Rejects if no answer comes, if `signal` aborts, or with `AnswerTooLarge`. */
  send(request: HookRequest, signal: AbortSignal): Promise<HookAnswer>;
}

/** A question, and the holder that it is counted for. */
export interface HookQuestion {
  readonly request: HookRequest;
  /** An address or an identity. */
  readonly holder: string;
  /** Of the message that waits for the answer. @default 0 */
  readonly bytes?: number;
}

/** The answer is longer than `answerBytesMax`. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

export interface HookClientOptions {
  /** The name for the log. */
  readonly name: string;
  readonly sender: HookSender;
  readonly limits: HookLimits;
  readonly timers: HookTimers;
  readonly log: Log;
  /**
   * The time left for an answer, in ms, if the process itself has a deadline.
   * @default any time
   */
  readonly remainingMs?: () => number;
}

/**
 * Asks a hook within its limits [SEC-HOOK-3]. A hook that is slow, dead or overloaded makes its own clients be refused,
 * and does not affect others.
 */
export class HookClient {
  readonly #options: HookClientOptions;
  readonly #breaker = new HolderBreaker();
  readonly #queue: QuestionQueue;
  readonly #bytes = new QuestionBytes();
  #unanswered = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: HookClientOptions) {
    this.#options = options;
    this.#queue = new QuestionQueue(options.limits, options.timers);
  }

  /**
   * Undefined if there is no answer; the log reports that once a minute. 'busy': it was not asked, as others of its
   * holder are before it. Never rejects.
   */
  async ask({ request, holder, bytes = 0 }: HookQuestion): Promise<HookAnswer | 'busy' | undefined> {
    const { limits, timers, remainingMs } = this.#options;
    const timeoutMs = Math.min(limits.timeoutMs, remainingMs?.() ?? limits.timeoutMs);
    if (timeoutMs <= 0) return this.#noAnswer('no time is left to ask it');
    if (!this.#breaker.take(holder, steadyNow(timers))) return this.#noAnswer('it has not answered before');
    if (!this.#bytes.take(holder, bytes)) return this.#busy();
    const deadline = new AbortController();
    const cancel = timers.after(timeoutMs, () => deadline.abort());
    const hasWaited = this.#queue.isBusy(holder);
    try {
      if (!(await this.#queue.enter(holder, deadline.signal))) return this.#busy();
      const answer = await this.#send(request, deadline.signal).finally(() => this.#queue.leave(holder));
      this.#breaker.succeeded(holder);
      return answer;
    } catch (error) {
      // A question that has waited leaves the hook less than its time: that it is late says nothing about the hook.
      if (!(deadline.signal.aborted && hasWaited)) this.#breaker.failed(holder, steadyNow(timers));
      return this.#noAnswer(deadline.signal.aborted ? `none within ${timeoutMs} ms` : reasonOf(error));
    } finally {
      this.#bytes.give(holder, bytes);
      cancel();
    }
  }

  /**
   * A kept-alive connection may have ended unnoticed, especially while Lambda had frozen the process: a second try
   * opens another.
   */
  async #send(request: HookRequest, signal: AbortSignal): Promise<HookAnswer> {
    const { sender } = this.#options;
    return await sender.send(request, signal).catch((error: unknown) => {
      if (signal.aborted || error instanceof AnswerTooLarge) throw error;
      return sender.send(request, signal);
    });
  }

  #busy(): 'busy' {
    this.#noAnswer('too many requests wait for it');
    return 'busy';
  }

  #noAnswer(reason: string): undefined {
    const { name, timers, log } = this.#options;
    this.#unanswered += 1;
    const nowMs = steadyNow(timers);
    if (nowMs - this.#loggedAtMs < LOG_INTERVAL_MS) return undefined;
    log.warn('hook-unanswered', { hook: name, reason, count: this.#unanswered });
    this.#loggedAtMs = nowMs;
    this.#unanswered = 0;
    return undefined;
  }
}
