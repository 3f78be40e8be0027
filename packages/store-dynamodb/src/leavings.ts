import type { SessionRef } from '@apus/broker';
import { OWNED } from './keys.ts';
import { type Item, textOf } from './values.ts';

/** What was read is taken for what is there for so long, by the calls that clear one session after the other. */
const FRESH_MS = 1_000;

/**
 * What an ended incarnation leaves behind. The broker clears its subscriptions, its receipts and its queue with three
 * calls; all of it is in one partition, which the first call reads for all three.
 */
export class Leavings {
  readonly #now: () => number;
  #partition:
    | { readonly name: string; readonly items: readonly Item[]; readonly readAtMs: number }
    | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  keep(session: SessionRef, items: readonly Item[]): void {
    this.#partition = { name: nameOf(session), items, readAtMs: this.#now() };
  }

  /** To be called by whatever adds to a session: what was read is not all any more. */
  forget(): void {
    this.#partition = undefined;
  }

  knows(session: SessionRef): boolean {
    const known = this.#partition;
    return known?.name === nameOf(session) && this.#now() - known.readAtMs < FRESH_MS;
  }

  received(session: SessionRef): Item | undefined {
    return this.#items(session).find((item) => textOf(item, 's') === OWNED.received);
  }

  /** What was inflight and what waited. The last that is asked for. */
  queue(session: SessionRef): Item[] {
    const isQueued = (sort = '') => sort.startsWith(OWNED.inflight) || sort.startsWith(OWNED.waiting);
    const items = this.#items(session).filter((item) => isQueued(textOf(item, 's')));
    this.forget();
    return items;
  }

  #items(session: SessionRef): readonly Item[] {
    return this.knows(session) ? (this.#partition?.items ?? []) : [];
  }
}

function nameOf({ key, incarnation }: SessionRef): string {
  return `${key}\0${incarnation}`;
}
