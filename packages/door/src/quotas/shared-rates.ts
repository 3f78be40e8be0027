import type { RateQuotas } from '@apus/broker';
import type { MinuteMeter } from './minute-meter.ts';
import { RateAccount } from './rate-account.ts';

/**
 * How much of an account's time a process may spend without knowing what others have spent: a tenth of a second's
 * worth. So all processes together exceed the rates by at most one such slice, and one packet, each.
 */
export const RATE_SLICE_MS = 100;

/** When so much of a slice is left the others are asked, so that ordinary clients do not wait. */
const ASK_MS = RATE_SLICE_MS / 2;

/** A charge to one account, in its time. */
export interface Spending {
  /** The key of the account. */
  readonly key: string;
  readonly costMs: number;
}

/** Accounts that all processes charge. */
export interface SharedRates {
  /** Charges the accounts, and returns the debt of each in ms. Rejects if it is unknown whether they were charged. */
  spend(spendings: readonly Spending[]): Promise<readonly number[]>;
}

/**
 * An account whose holder spends at other processes as well. This process works off its own part at the whole rates.
 */
class SharedAccount extends RateAccount {
  readonly key: string;
  readonly #bank: RateBank;
  /** Spent here, and not told yet. */
  #untoldMs = 0;
  #underWayMs = 0;
  /** The end of the debt at all processes together. */
  #endsAtMs = 0;

  constructor(key: string, quotas: RateQuotas, bank: RateBank, delivered: MinuteMeter | undefined) {
    super(quotas, delivered);
    this.key = key;
    this.#bank = bank;
  }

  override debtMs(nowMs: number): number {
    return Math.max(super.debtMs(nowMs), this.#endsAtMs - nowMs);
  }

  override waitMs(nowMs: number): number {
    const debtMs = this.debtMs(nowMs);
    return this.#untoldMs + this.#underWayMs > RATE_SLICE_MS ? Number.POSITIVE_INFINITY : debtMs;
  }

  /** Takes the spending that has to be told. */
  take(): Spending {
    this.#underWayMs = this.#untoldMs;
    this.#untoldMs = 0;
    return { key: this.key, costMs: this.#underWayMs };
  }

  /** @param debtMs undefined: the debt is not known */
  told(debtMs: number | undefined, nowMs: number): void {
    this.#underWayMs = 0;
    if (debtMs !== undefined) this.#endsAtMs = nowMs + debtMs;
    this.#tell();
  }

  protected override charge(costMs: number, nowMs: number): void {
    super.charge(costMs, nowMs);
    this.#untoldMs += costMs;
    this.#tell();
  }

  #tell(): void {
    if (this.#underWayMs === 0 && this.#untoldMs >= ASK_MS) this.#bank.tell(this);
  }
}

export interface RateBankOptions {
  readonly shared: SharedRates;
  readonly now: () => number;
  /** Clients that have waited for an answer may go on. */
  readonly answered: () => void;
}

/** Tells the others what the accounts of this process have spent, once for each turn. */
export class RateBank {
  readonly #options: RateBankOptions;
  readonly #due = new Set<SharedAccount>();

  constructor(options: RateBankOptions) {
    this.#options = options;
  }

  /** @param delivered counts the deliveries of this process alone */
  account(key: string, quotas: RateQuotas, delivered?: MinuteMeter): RateAccount {
    return new SharedAccount(key, quotas, this, delivered);
  }

  tell(account: SharedAccount): void {
    if (this.#due.size === 0) setImmediate(() => void this.#spend());
    this.#due.add(account);
  }

  async #spend(): Promise<void> {
    const { shared, now, answered } = this.#options;
    const accounts = [...this.#due];
    this.#due.clear();
    const debts = await shared.spend(accounts.map((account) => account.take())).catch(() => undefined);
    for (const [index, account] of accounts.entries()) account.told(debts?.[index], now());
    answered();
  }
}
