import { CLOCK_SKEW_MS, TTL_SLACK_SECONDS } from '../limits.ts';
import { quotaAccountKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, VERSION } from '../table/values.ts';

/** The holder that is charged, and the kind of holder. */
export interface QuotaAccount {
  /** Empty for the account of all tenants. */
  readonly tenant: string;
  /** As in `QuotaHolder`; or a whole tenant, or all clients together. Different kinds are different accounts. */
  readonly kind: 'identity' | 'address' | 'client' | 'tenant' | 'broker';
  /** Empty for a tenant, and for all together. */
  readonly name: string;
  readonly of: 'deliveries' | 'frames' | 'messages' | 'reads' | 'writes';
}

/** The outcome of a charge. */
export interface Charged {
  /** False: the debt had reached its limit, and nothing was charged. */
  readonly isTaken: boolean;
  /** How long the account takes to be out of debt if nothing more is charged. */
  readonly debtMs: number;
}

/** Between a charge that adds to a debt and one that begins a debt, the account may change once. */
const ATTEMPTS_MAX = 4;

/**
 * The debts of holders of quotas, as time: an account is one number, the moment at which its debt is worked off. A
 * charge moves it on by so many milliseconds, and is refused while the debt is at its limit (a leaky bucket as a
 * meter, ITU-T I.371). So a rate holds over any stretch of time, and no window begins anew with each minute.
 *
 * An account is an item of its own, written only for busy holders. Concurrent charges add up:
 *
 *     process A                          process B
 *     no debt: begin one of 100 ms
 *     (IF there is none)                 no debt: begin one of 300 ms
 *     taken                              refused: a debt stands there
 *                                        add 300 ms (IF there is one, and it is not too long)
 *                                        taken: 400 ms
 *
 * A write whose answer was lost may charge twice, which is harmless. The TTL of the item tells when it was written: a
 * debt of a process whose clock was ahead, or of before this one's went back, would last too long, and is forgotten.
 */
export class QuotaAccounts {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Charges `costMs`, unless the debt has reached `debtMsMax`; so it exceeds that by one charge at most. `hasDebt`: as
   * the caller remembers, which saves a write unit if it is right.
   */
  async charge(account: QuotaAccount, costMs: number, debtMsMax: number, hasDebt: boolean): Promise<Charged> {
    const nowMs = this.#table.settings.clock.now();
    let isInDebt = hasDebt;
    let debtMs = 0;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const { ok, old } = isInDebt
        ? await this.#add(account, costMs, debtMsMax, nowMs)
        : await this.#begin(account, costMs, nowMs);
      debtMs = this.#isOfLater(old) ? 0 : (numberOf(old, 'e') ?? nowMs) - nowMs;
      if (ok) return { isTaken: true, debtMs: isInDebt ? debtMs + costMs : costMs };
      if (debtMs >= debtMsMax) break;
      isInDebt = debtMs > 0;
    }
    return { isTaken: false, debtMs };
  }

  async #begin(account: QuotaAccount, costMs: number, nowMs: number) {
    const isOutOfDebt = 'attribute_not_exists(e) OR e <= :now';
    const isOfLater = 't > :later';
    return await this.#table.update(quotaAccountKey(account), 'SET v = :v, t = :ttl, e = :end', {
      condition: `${isOutOfDebt} OR ${isOfLater}`,
      values: {
        ':v': number(VERSION),
        ':ttl': number(this.#ttl()),
        ':now': number(nowMs),
        ':end': number(nowMs + costMs),
        ':later': number(this.#laterSeconds()),
      },
    });
  }

  async #add(account: QuotaAccount, costMs: number, debtMsMax: number, nowMs: number) {
    const isInDebt = 'e > :now';
    const mayOweMore = 'e < :limit';
    return await this.#table.update(quotaAccountKey(account), 'SET t = :ttl ADD e :cost', {
      condition: `${isInDebt} AND ${mayOweMore}`,
      values: {
        ':ttl': number(this.#ttl()),
        ':now': number(nowMs),
        ':limit': number(nowMs + debtMsMax),
        ':cost': number(costMs),
      },
      returnsOld: true,
    });
  }

  #isOfLater(item: Item | undefined): boolean {
    return (numberOf(item, 't') ?? 0) > this.#laterSeconds();
  }

  /** The TTL of no item that was written by now. */
  #laterSeconds(): number {
    return this.#ttl() + CLOCK_SKEW_MS / 1_000;
  }

  /** The item is deleted some time after its debt has ended. A holder without an item has no debt. */
  #ttl(): number {
    return this.#table.nowSeconds() + TTL_SLACK_SECONDS;
  }
}
