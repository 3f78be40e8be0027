import {
  type Ban,
  type Broker,
  type DelayedMessages,
  type Message,
  type Publisher,
  steadyNow,
} from '@apus/broker';
import {
  AGAIN_MS,
  type DelayedParts,
  delayedFacts,
  delayedHolder,
  delayedKey,
  delayMsOf,
  freeDelayed,
  publishDelayed,
} from '@apus/door';

/** How often a process looks for messages of others that have died. */
const LOOK_MS = 1_000;

/** Messages of one turn of a process. */
const TURN_MESSAGES_MAX = 100;

/** A due message, and the time that it was taken with. */
interface DueKey {
  readonly key: string;
  readonly time: string;
}

/** When delayed messages of all processes are due. */
export interface SharedDelays {
  set(key: string, delayMs: number): Promise<void>;
  delete(key: string): Promise<void>;
  /** Deletes the time of a message that has been published or is not there, unless it has been set meanwhile. */
  done(due: DueKey): Promise<void>;
  /**
   * Due messages, in order, which only this process publishes now; or in how many ms the next one is due.
   * Undefined: another process publishes.
   */
  take(
    countMax: number,
  ): Promise<{ readonly due: readonly DueKey[]; readonly nextMs: number | undefined } | undefined>;
}

interface Parts extends DelayedParts {
  readonly due: SharedDelays;
}

/**
 * Messages of `$delayed/SECONDS/TOPIC` of all processes. Each process looks when one of its own messages is due, and
 * every second for those of dead processes; one of them publishes.
 */
export class SharedDelayedMessages implements DelayedMessages {
  readonly #parts: Parts;
  #broker: Broker | undefined;
  #isLooking = false;
  #isStopped = false;
  #lookAtMs = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async start(broker: Broker): Promise<void> {
    this.#broker = broker;
    this.#lookIn(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async keep(
    tenant: string,
    message: Message,
    dueAtMs: number,
    publisher: Publisher | undefined,
  ): Promise<boolean> {
    const { kept, due, clock, quotas } = this.#parts;
    const key = delayedKey(tenant, message.id);
    const delayMs = delayMsOf(dueAtMs, clock.now());
    const steadyDueMs = steadyNow(clock) + delayMs;
    // Before the message, so that a kill in between leaves no message without a time.
    await due.set(key, delayMs);
    const holder = delayedHolder(tenant, publisher, quotas);
    const isKept = await kept.put({ key, message, facts: delayedFacts(publisher) }, holder);
    // It was due before it was stored: a process that has looked for it may have removed its time, or do so now.
    if (isKept && steadyNow(clock) >= steadyDueMs) await due.set(key, 0);
    if (isKept) this.#lookIn(steadyDueMs - steadyNow(clock));
    else await due.delete(key);
    return isKept;
  }

  /** Gives the room of banned clients back. */
  free(ban: Ban): Promise<void> {
    return freeDelayed(this.#parts, ban, (key) => this.#parts.due.delete(key));
  }

  /** Looks then at the latest. */
  #lookIn(ms: number): void {
    const { clock } = this.#parts;
    const atMs = steadyNow(clock) + Math.max(0, Math.min(ms, LOOK_MS));
    if (this.#isStopped || atMs >= this.#lookAtMs) return;
    this.#cancel();
    this.#lookAtMs = atMs;
    this.#cancel = clock.after(atMs - steadyNow(clock), () => {
      this.#lookAtMs = Number.POSITIVE_INFINITY;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return this.#lookIn(LOOK_MS);
    this.#isLooking = true;
    let nextMs = LOOK_MS;
    try {
      nextMs = await this.#publishDue();
    } catch (error) {
      if (!this.#isStopped) this.#parts.log.error('delayed-messages-failed', { error: String(error) });
    }
    this.#isLooking = false;
    this.#lookIn(nextMs);
  }

  /** Returns in how many ms it has to look again. */
  async #publishDue(): Promise<number> {
    while (!this.#isStopped) {
      const taken = await this.#parts.due.take(TURN_MESSAGES_MAX);
      if (taken === undefined) return LOOK_MS;
      if (taken.due.length === 0) return taken.nextMs ?? LOOK_MS;
      // One after another: messages that are due at the same time keep their order.
      for (const due of taken.due) await this.#publish(due);
    }
    return LOOK_MS;
  }

  async #publish(taken: DueKey): Promise<void> {
    const { due, log } = this.#parts;
    const { key } = taken;
    if (this.#broker === undefined || this.#isStopped) return;
    const isDone = await publishDelayed(this.#parts, this.#broker, key).catch((error: unknown) => {
      log.error('delayed-message-failed', { key, error: String(error) });
      return false;
    });
    if (isDone) await due.done(taken);
    else await due.set(key, AGAIN_MS);
  }
}
