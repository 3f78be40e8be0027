import { ThrottledError } from '../table/errors.ts';
import { type Key, quotaAccountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, VERSION } from '../table/values.ts';
import type { HeldChange } from './held-change.ts';
import type { QuotaAccount } from './quota-accounts.ts';

/** The holder: an identity or a tenant. */
export type HoldingAccount = Pick<QuotaAccount, 'tenant' | 'kind' | 'name'>;

/** The counts of a holder. */
export interface HeldCounts {
  readonly connections: number;
  readonly sessions: number;
  readonly retainedMessages: number;
  /** As `retainedBytes` counts them. */
  readonly retainedBytes: number;
}

/** The sort key of their items. */
export const HOLDINGS = 'holdings';

/** `hw`: the sweep has to count it again. */
const ATTRIBUTES = {
  connections: 'hc',
  sessions: 'hs',
  retainedMessages: 'hr',
  retainedBytes: 'hb',
} as const;

/** About how much identities and tenants hold: an item for each, of the changes that are written. */
export class QuotaHoldings {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the number after the change. Undefined: it is not known, since the table is busy. */
  async change(account: HoldingAccount, of: HeldChange['of'], by: number): Promise<number | undefined> {
    try {
      const { old } = await this.#table.update(
        keyOf(account),
        `SET v = :v, t = :ttl ADD ${ATTRIBUTES[of]} :by`,
        {
          values: { ':v': number(VERSION), ':ttl': number(this.#ttl()), ':by': number(by) },
          returnsOld: true,
        },
      );
      return (numberOf(old, ATTRIBUTES[of]) ?? 0) + by;
    } catch (error) {
      // The write has been made, so this is no refusal.
      if (error instanceof ThrottledError) return undefined;
      throw error;
    }
  }

  /** Changes several counts at once. If it is unknown whether the write was made, the sweep counts again. */
  async add(account: HoldingAccount, changes: Partial<HeldCounts>): Promise<void> {
    const changed = Object.entries(changes).filter(([, by]) => by !== 0) as [keyof HeldCounts, number][];
    if (changed.length === 0) return;
    const added = changed.map(([of]) => `${ATTRIBUTES[of]} :${of}`).join(', ');
    const values = Object.fromEntries(changed.map(([of, by]) => [`:${of}`, number(by)]));
    try {
      await this.#table.update(keyOf(account), `SET v = :v, t = :ttl ADD ${added}`, {
        values: { ':v': number(VERSION), ':ttl': number(this.#ttl()), ...values },
      });
    } catch (error) {
      if (!(error instanceof ThrottledError)) throw error;
    }
  }

  async read(account: HoldingAccount): Promise<HeldCounts> {
    return countsOf(await this.#table.get(keyOf(account)));
  }

  /** Asks the sweep to count: a client was refused, and the counts may be wrong. */
  async askForCount(account: HoldingAccount): Promise<void> {
    await this.#table.update(keyOf(account), 'SET v = :v, t = :ttl, hw = :one', {
      values: { ':v': number(VERSION), ':ttl': number(this.#ttl()), ':one': number(1) },
    });
  }

  /** Writes the sweep's counts. Changes during the count may be missing. */
  async set(account: HoldingAccount, counts: HeldCounts): Promise<void> {
    await this.#table.update(
      keyOf(account),
      'SET v = :v, t = :ttl, hc = :connections, hs = :sessions, hr = :messages, hb = :bytes REMOVE hw',
      {
        values: {
          ':v': number(VERSION),
          ':ttl': number(this.#ttl()),
          ':connections': number(counts.connections),
          ':sessions': number(counts.sessions),
          ':messages': number(counts.retainedMessages),
          ':bytes': number(counts.retainedBytes),
        },
      },
    );
  }

  /** Writes the counts of connections and sessions: messages were not counted, and the request for a count stays. */
  async setSessions(
    account: HoldingAccount,
    { connections, sessions }: Pick<HeldCounts, 'connections' | 'sessions'>,
  ): Promise<void> {
    await this.#table.update(keyOf(account), 'SET v = :v, t = :ttl, hc = :connections, hs = :sessions', {
      values: {
        ':v': number(VERSION),
        ':ttl': number(this.#ttl()),
        ':connections': number(connections),
        ':sessions': number(sessions),
      },
    });
  }

  /** TTL in seconds: longer than any session lasts whose client stays away. */
  #ttl(): number {
    return this.#table.nowSeconds() + this.#table.settings.queueSecondsMax;
  }
}

function countsOf(item: Item | undefined): HeldCounts {
  return {
    connections: Math.max(0, numberOf(item, ATTRIBUTES.connections) ?? 0),
    sessions: Math.max(0, numberOf(item, ATTRIBUTES.sessions) ?? 0),
    retainedMessages: Math.max(0, numberOf(item, ATTRIBUTES.retainedMessages) ?? 0),
    retainedBytes: Math.max(0, numberOf(item, ATTRIBUTES.retainedBytes) ?? 0),
  };
}

function keyOf(account: HoldingAccount): Key {
  return quotaAccountKey({ ...account, of: HOLDINGS });
}
