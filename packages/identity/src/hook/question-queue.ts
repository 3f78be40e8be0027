import { steadyNow } from '@apus/broker';
import { Crowd } from '../crowd.ts';
import { LeakyCounts } from '../leaky-counts.ts';
import { type HookLimits, PACE_MS, PACED_AFTER, PACED_HOLDERS_MAX } from './limits.ts';
import type { HookTimers } from './system-timers.ts';

/** Lets the waiting question go on, or turns it away. */
type Waiting = (isItsTurn: boolean) => void;

/**
 * Questions that a hook is asked at a time, and those that wait. Those of one holder, an address or an identity, take a
 * share of both at most, and have a pace; holders take turns; and where too many wait, one of the holder with most is turned away
 * [SEC-HOOK-5].
 */
export class QuestionQueue {
  readonly #limits: HookLimits;
  readonly #timers: HookTimers;
  readonly #waiting = new Crowd<Waiting>();
  readonly #running = new Map<string, number>();
  readonly #recent: LeakyCounts;
  #runningCount = 0;
  #isPacing = false;

  constructor(limits: HookLimits, timers: HookTimers) {
    this.#limits = limits;
    this.#timers = timers;
    const leakMs = 1_000 / limits.requestsPerSecondPerHolderMax;
    this.#recent = new LeakyCounts({ leakMs, countMax: PACED_AFTER, keysMax: PACED_HOLDERS_MAX });
  }

  /** Whether a question would wait. */
  isBusy(holder: string): boolean {
    return this.#runningCount >= this.#limits.concurrentRequestsMax || !this.#hasShare(holder);
  }

  /**
   * Waits for a place, which `leave` gives back. False: there is none for this holder, or none before the signal.
   */
  async enter(holder: string, signal: AbortSignal): Promise<boolean> {
    if (!this.isBusy(holder)) {
      this.#start(holder);
      return true;
    }
    if (!this.#makeRoom(holder)) return false;
    this.#pace();
    return await new Promise((resolve) => {
      this.#waiting.add(resolve, holder);
      signal.addEventListener('abort', () => {
        if (this.#waiting.delete(resolve)) resolve(false);
      });
    });
  }

  leave(holder: string): void {
    const left = (this.#running.get(holder) ?? 0) - 1;
    if (left > 0) this.#running.set(holder, left);
    else this.#running.delete(holder);
    this.#runningCount -= 1;
    this.#startNext();
  }

  /** False: all places are taken, or no holder that waits may ask now. */
  #startNext(): boolean {
    if (this.#runningCount >= this.#limits.concurrentRequestsMax) return false;
    const next = this.#waiting.takeTurn((each) => this.#hasShare(each));
    if (next === undefined) return false;
    const [goOn, holder] = next;
    this.#start(holder);
    goOn(true);
    return true;
  }

  /** No request of a holder that waits for its pace may be under way, whose end would start the next. */
  #pace(): void {
    if (this.#isPacing) return;
    this.#isPacing = true;
    this.#timers.after(PACE_MS, () => {
      this.#isPacing = false;
      while (this.#startNext());
      if (this.#waiting.size > 0) this.#pace();
    });
  }

  #start(holder: string): void {
    this.#running.set(holder, (this.#running.get(holder) ?? 0) + 1);
    this.#runningCount += 1;
    this.#recent.add(holder, steadyNow(this.#timers));
  }

  #hasShare(holder: string): boolean {
    if ((this.#running.get(holder) ?? 0) >= this.#limits.concurrentRequestsPerHolderMax) return false;
    return this.#recent.count(holder, steadyNow(this.#timers)) <= PACED_AFTER - 1;
  }

  #makeRoom(holder: string): boolean {
    const { waitingRequestsMax, waitingRequestsPerHolderMax } = this.#limits;
    const own = this.#waiting.count(holder);
    if (own >= waitingRequestsPerHolderMax) return false;
    if (this.#waiting.size < waitingRequestsMax) return true;
    if (own >= this.#waiting.most) return false;
    const turnedAway = this.#waiting.oldest();
    if (turnedAway === undefined || !this.#waiting.delete(turnedAway)) return false;
    turnedAway(false);
    return true;
  }
}
