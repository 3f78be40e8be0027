import { ApiProblem, filterOf, type Held, type SubscriptionFacts } from '@apus/api';
import type { Subscription } from '@apus/broker';
import {
  positionBehind,
  type SessionName,
  type SweepPosition,
  type SweptSession,
} from '@apus/store-dynamodb';
import type { HasTime } from '../operator/ban.ts';
import { isSession } from '../operator/table-walk.ts';
import type { ApiContext } from './context.ts';
import { cursorOf, partOf, positionOf } from './pages.ts';
import { filtersOf } from './topics.ts';

/** Pages of the table that one answer reads at most: 1 MB each, 128 read units. */
const TABLE_PAGES_MAX = 8;

/** Sessions whose subscriptions one answer reads at most: a read unit each, where they have few. */
const SESSIONS_MAX = 1_000;

/** Lists that are read side by side. */
const LISTS_AT_ONCE = 25;

/**
 * Where the next page begins: after the session at `p` and `s`, when `skip` subscriptions of `of` have been returned.
 */
interface Cursor extends SweepPosition {
  /** A client of whose subscriptions the previous page has returned only some. */
  readonly of?: string;
  readonly skip?: number;
}

type Fits = (subscription: Subscription) => boolean;

/**
 * The subscriptions of all sessions of a tenant, by a walk over the table of sessions that is bounded for each answer.
 */
export function subscriptionFacts(
  context: ApiContext,
  hasTime: HasTime,
): Omit<SubscriptionFacts, 'nodeName'> {
  return {
    async subscriptions(tenant, clientId, fits, slice) {
      // Here an empty name stands for any.
      if (clientId) {
        const held = (await heldBy(context, tenant, clientId)).filter(({ subscription }) =>
          fits(subscription),
        );
        return partOf(held, slice);
      }
      const page = new Page(context, tenant, fits, slice.limit);
      await page.fill(readCursor(positionOf(slice.after)), hasTime);
      return { entries: page.entries, next: cursorOf(page.next) };
    },
    async subscriptionsOf(tenant, clientId) {
      const record = await context.sessions.get(tenant, clientId);
      return record && (await context.subscriptions.list(record.session));
    },
    async topicFilters(tenant, slice) {
      const filters = await context.filters.of(tenant, () => filtersOf(context, tenant, hasTime));
      return partOf(filters, slice);
    },
  };
}

async function heldBy(
  { sessions, subscriptions }: ApiContext,
  tenant: string,
  clientId: string,
): Promise<readonly Held[]> {
  const record = await sessions.get(tenant, clientId);
  if (record === undefined) return [];
  return inOrder(clientId, await subscriptions.list(record.session));
}

/** In a fixed order, so that a page can go on where the previous one ended. */
function inOrder(clientId: string, list: readonly Subscription[]): readonly Held[] {
  const held = list.map((subscription) => ({ clientId, subscription }));
  return held.sort((one, other) => (filterOf(one.subscription) < filterOf(other.subscription) ? -1 : 1));
}

/** One page, and the place where the next one begins. */
class Page {
  readonly entries: Held[] = [];
  next: Cursor | undefined;
  readonly #context: ApiContext;
  readonly #tenant: string;
  readonly #fits: Fits;
  readonly #limit: number;
  #looked = 0;

  constructor(context: ApiContext, tenant: string, fits: Fits, limit: number) {
    this.#context = context;
    this.#tenant = tenant;
    this.#fits = fits;
    this.#limit = limit;
  }

  async fill(after: Cursor | undefined, hasTime: HasTime): Promise<void> {
    if (after?.of !== undefined) {
      const held = await heldBy(this.#context, this.#tenant, after.of);
      if (this.#add({ tenant: this.#tenant, clientId: after.of }, held, after.skip)) return;
    }
    let position: SweepPosition | undefined = after;
    for (let pages = 0; pages < TABLE_PAGES_MAX; pages += 1) {
      const { found, next } = await this.#context.scan.page(0, 1, keyOf(position));
      const own = found.filter(isSession).filter(({ tenant }) => tenant === this.#tenant);
      if (await this.#addAll(own)) return;
      this.next = next;
      position = next;
      if (next === undefined || !hasTime()) return;
    }
  }

  /** @returns whether the page ends here */
  async #addAll(sessions: readonly SweptSession[]): Promise<boolean> {
    for (let start = 0; start < sessions.length; start += LISTS_AT_ONCE) {
      const some = sessions.slice(start, start + LISTS_AT_ONCE);
      const lists = await Promise.all(some.map((each) => this.#context.subscriptions.list(each)));
      for (const [index, session] of some.entries()) {
        this.#looked += 1;
        if (this.#add(session, inOrder(session.clientId, lists[index] ?? []))) return true;
      }
    }
    return false;
  }

  /** @param skip subscriptions that the previous page has returned. @returns whether the page ends here */
  #add(session: SessionName, held: readonly Held[], skip = 0): boolean {
    const behind = positionBehind(session);
    for (const [index, each] of held.entries()) {
      if (index < skip || !this.#fits(each.subscription)) continue;
      if (this.entries.length === this.#limit) {
        this.next = { ...behind, of: session.clientId, skip: index };
        return true;
      }
      this.entries.push(each);
    }
    if (this.entries.length < this.#limit && this.#looked < SESSIONS_MAX) return false;
    this.next = behind;
    return true;
  }
}

function keyOf(position: SweepPosition | undefined): SweepPosition | undefined {
  return position && { p: position.p, s: position.s };
}

/** A cursor may be any text. @throws {ApiProblem} */
function readCursor(value: unknown): Cursor | undefined {
  if (value === undefined) return undefined;
  const { p, s, of, skip } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isWhole = of === undefined && skip === undefined;
  const isPart = typeof of === 'string' && Number.isSafeInteger(skip) && Number(skip) >= 0;
  if (typeof p === 'string' && typeof s === 'string' && p !== '' && s !== '' && (isWhole || isPart))
    return { p, s, ...(isPart && { of, skip: Number(skip) }) };
  throw new ApiProblem('BAD_REQUEST', 'after is meta.next of the page before.');
}
