import type { Problem } from './ledger.ts';
import { messageName } from './trace.ts';

type Entry =
  | { readonly kind: 'message'; readonly topic: string; readonly number: number }
  /** The connection was lost; it is resumed without notice, and the transport reports that. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'gap' }
  /** A new connection, which the program notices: it subscribes again. */
  | { readonly kind: 'anew' }
  /** The subscription of that connection was granted. */
  | { readonly kind: 'granted' };

type Told = Exclude<Entry['kind'], 'message'>;

/**
 * The messages and losses that a client sees whose session ends with its connection. Such a session may miss messages
 * when a connection is lost, but only with a reported gap.
 */
export class GapLedger {
  readonly #entries: Entry[] = [];
  /** By the name of a message: the entry before which a handler first began with it. */
  readonly #handledAt = new Map<string, number>();

  heard(topic: string, number: number): void {
    this.#entries.push({ kind: 'message', topic, number });
  }

  /** A handler begins with a message. A message without such a record has to arrive. */
  handled(name: string): void {
    if (!this.#handledAt.has(name)) this.#handledAt.set(name, this.#entries.length);
  }

  told(kind: Told): void {
    this.#entries.push({ kind });
  }

  /** @param acknowledgedOf the numbers of a topic that the server has to deliver */
  problems(acknowledgedOf: (topic: string) => readonly number[]): Problem[] {
    const topics = new Set(this.#entries.flatMap((entry) => (entry.kind === 'message' ? entry.topic : [])));
    return [...topics].flatMap((topic) => this.#problemsOf(topic, acknowledgedOf(topic)));
  }

  #problemsOf(topic: string, acknowledged: readonly number[]): Problem[] {
    const heard = this.#entries.flatMap((entry, at) =>
      entry.kind === 'message' && entry.topic === topic ? [{ at, number: entry.number }] : [],
    );
    const all = new Set(heard.map(({ number }) => number));
    return heard.slice(1).flatMap((next, index) => {
      const before = heard[index];
      if (before === undefined) return [];
      const isMissing = (n: number) => {
        const handledAt = this.#handledAt.get(messageName(topic, String(n)));
        if (all.has(n) || (handledAt !== undefined && this.#isOlderThanSubscription(handledAt, next.at)))
          return false;
        return !this.#isExcused(handledAt ?? before.at + 1, next.at);
      };
      const missing = acknowledged.filter((n) => n > before.number && n < next.number && isMissing(n));
      if (missing.length === 0) return [];
      return [
        {
          what: `gap: ${topic} ${missing.join(', ')} never came, and nothing was said`,
          about: `${topic}=${missing[0]}`,
        },
      ];
    });
  }

  /**
   * A subscription need not get messages whose handler began before it was granted. It may get some of them: a worker
   * that returns to an earlier message finds the new subscription.
   */
  #isOlderThanSubscription(handledAt: number, at: number): boolean {
    const entries = this.#entries.slice(0, at);
    const anewAt = entries.findLastIndex(({ kind }) => kind === 'anew');
    const grantedAt = entries.findIndex(({ kind }, index) => kind === 'granted' && index > anewAt);
    return grantedAt < 0 || handledAt <= grantedAt;
  }

  /**
   * A reported loss, or a new connection, lies between the two. A message can be lost from the beginning of its handler
   * on, and an earlier one may come after that, from a worker.
   */
  #isExcused(from: number, to: number): boolean {
    let lostAt: number | undefined;
    for (const [at, { kind }] of this.#entries.entries()) {
      if (kind === 'lost') lostAt ??= at;
      if ((kind === 'anew' || kind === 'gap') && at >= from && (lostAt ?? at) < to) return true;
      // The report comes right behind the messages that are sent again.
      if (kind === 'gap' || kind === 'anew') lostAt = undefined;
    }
    return false;
  }
}
