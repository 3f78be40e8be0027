import { threadId } from 'node:worker_threads';

/** A message between the workers of one Artillery process. */
interface Message {
  readonly thread: number;
  /** By barrier: how many virtual users of the thread have reached it. */
  readonly arrived: ReadonlyMap<string, number>;
  /** Virtual users of the thread that have failed, and by barrier how many of them had reached it before. */
  readonly gone: number;
  readonly goneAfter: ReadonlyMap<string, number>;
  /** Asks the other workers for their counts. */
  readonly isQuestion: boolean;
}

interface Waiting {
  readonly users: number;
  readonly open: () => void;
}

/** As much of a BroadcastChannel as is used; a test may bring its own. */
export interface Channel {
  postMessage(message: Message): void;
  onmessage: unknown;
  unref?(): void;
  close(): void;
}

/**
 * Barriers at which virtual users wait until a given number have come, over all workers of one Artillery process. A
 * user that has failed or finished does not delay others. Workers on other machines are not counted.
 */
export class Barriers {
  readonly #channel: Channel;
  readonly #own = { arrived: new Map<string, number>(), gone: 0, goneAfter: new Map<string, number>() };
  readonly #others = new Map<number, Message>();
  readonly #waiting = new Map<string, Set<Waiting>>();
  readonly #thread: number;

  constructor(channel: Channel, thread = threadId) {
    this.#channel = channel;
    this.#thread = thread;
    channel.onmessage = (event: { readonly data: unknown }) => this.#hear(event.data as Message);
    channel.unref?.();
    this.#tell(true);
  }

  /** Resolves with true when `users` have come or failed, with false after `withinMs`. */
  wait(name: string, users: number, withinMs: number): Promise<boolean> {
    count(this.#own.arrived, name);
    const opened = new Promise<boolean>((resolve) => {
      const waiting: Waiting = {
        users,
        open: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.get(name)?.delete(waiting);
        resolve(false);
      }, withinMs);
      const others = this.#waiting.get(name) ?? new Set();
      this.#waiting.set(name, others.add(waiting));
    });
    this.#tell(false);
    this.#look();
    return opened;
  }

  /** A virtual user has failed: it reaches no further barrier. */
  userGone(arrivedAt: Iterable<string>): void {
    this.#own.gone += 1;
    for (const name of arrivedAt) count(this.#own.goneAfter, name);
    this.#tell(false);
    this.#look();
  }

  close(): void {
    this.#channel.close();
  }

  #tell(isQuestion: boolean): void {
    this.#channel.postMessage({ thread: this.#thread, ...structuredClone(this.#own), isQuestion });
  }

  #hear(message: Message): void {
    this.#others.set(message.thread, message);
    if (message.isQuestion) this.#tell(false);
    this.#look();
  }

  #look(): void {
    for (const [name, waiting] of this.#waiting) {
      const present = this.#present(name);
      for (const each of waiting) {
        if (present < each.users) continue;
        waiting.delete(each);
        each.open();
      }
    }
  }

  #present(name: string): number {
    const all = [this.#own, ...this.#others.values()];
    return all.reduce(
      (sum, { arrived, gone, goneAfter }) =>
        sum + (arrived.get(name) ?? 0) + gone - (goneAfter.get(name) ?? 0),
      0,
    );
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
