import type { Clock, Log } from '@apus/broker';
import { CircuitBreaker } from './circuit-breaker.ts';
import { FAILURES_MAX, type HookLimits, LOG_INTERVAL_MS, REST_MS } from './limits.ts';
import type { HookRequest } from './request-template.ts';

/** The answer of a hook, with any status. */
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

/** The answer is longer than `answerBytesMax`. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

export interface HookTimers extends Clock {
  /** Calls back once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
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
  readonly #breaker = new CircuitBreaker(FAILURES_MAX, REST_MS);
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #unanswered = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: HookClientOptions) {
    this.#options = options;
  }

  /** Undefined if there is no answer; the log reports that once a minute. Never rejects. */
  async ask(request: HookRequest): Promise<HookAnswer | undefined> {
    const { limits, timers, remainingMs } = this.#options;
    const timeoutMs = Math.min(limits.timeoutMs, remainingMs?.() ?? limits.timeoutMs);
    if (timeoutMs <= 0) return this.#noAnswer('no time is left to ask it');
    if (this.#waiting.size >= limits.waitingRequestsMax)
      return this.#noAnswer('too many requests wait for it');
    if (!this.#breaker.take(timers.now())) return this.#noAnswer('it has not answered before');
    const deadline = new AbortController();
    const cancel = timers.after(timeoutMs, () => deadline.abort());
    try {
      await this.#enter(deadline.signal);
      return await this.#send(request, deadline.signal);
    } catch (error) {
      this.#breaker.failed(timers.now());
      return this.#noAnswer(deadline.signal.aborted ? `none within ${timeoutMs} ms` : reasonOf(error));
    } finally {
      cancel();
    }
  }

  /**
   * A kept-alive connection may have ended unnoticed, especially while Lambda had frozen the process: a second try
   * opens another.
   */
  async #send(request: HookRequest, signal: AbortSignal): Promise<HookAnswer> {
    const { sender } = this.#options;
    try {
      const answer = await sender.send(request, signal).catch((error: unknown) => {
        if (signal.aborted || error instanceof AnswerTooLarge) throw error;
        return sender.send(request, signal);
      });
      this.#breaker.succeeded();
      return answer;
    } finally {
      this.#leave();
    }
  }

  #enter(signal: AbortSignal): Promise<void> | undefined {
    if (this.#running < this.#options.limits.concurrentRequestsMax) {
      this.#running += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      signal.addEventListener('abort', () => {
        if (this.#waiting.delete(resolve)) reject(signal.reason);
      });
    });
  }

  /** The request that has waited longest takes the free place. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running -= 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }

  #noAnswer(reason: string): undefined {
    const { name, timers, log } = this.#options;
    this.#unanswered += 1;
    const nowMs = timers.now();
    if (nowMs - this.#loggedAtMs < LOG_INTERVAL_MS) return undefined;
    log.warn('hook-unanswered', { hook: name, reason, count: this.#unanswered });
    this.#loggedAtMs = nowMs;
    this.#unanswered = 0;
    return undefined;
  }
}

/** `fetch` only says that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as Error;
  return cause instanceof Error ? cause.message : String(cause);
}
