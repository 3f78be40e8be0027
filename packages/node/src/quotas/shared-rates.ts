import type { RateQuotas } from '@apus/broker';
import type { MinuteMeter } from './minute-meter.ts';
import { RateAccount } from './rate-account.ts';

/**
 * A process may spend so much of an account's time without knowing what others have spent: a tenth of a second's worth. So all together
 * let through at most as much more than the rates allow as there are processes, and one packet each.
 */
export const RATE_SLICE_MS = 100;

/** The rest of a slice is spent while the others are asked, so that ordinary clients do not wait. */
const ASK_MS = RATE_SLICE_MS / 2;

/** Spending of one account, in its time. */
export interface Spending {
  /** Of the account: no other has it. */
  readonly key: string;
  readonly costMs: number;
}

/** Accounts that all processes charge. */
export interface SharedRates {
  /** Charges the accounts, and answers the debt of each in ms. Rejects when it is not known whether they were charged. */
  spend(spendings: readonly Spending[]): Promise<readonly number[]>;
}

/** An account whose holder spends at other processes as well. This process works off its own part alone, at the whole rates. */
class SharedAccount extends RateAccount {
  readonly key: string;
  readonly #bank: RateBank;
  /** Spent here, and not told. */
  #untoldMs = 0;
  #underWayMs = 0;
  /** As all together have it. */
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

  /** Takes what is to be told. */
  take(): Spending {
    this.#underWayMs = this.#untoldMs;
    this.#untoldMs = 0;
    return { key: this.key, costMs: this.#underWayMs };
  }

  /** @param debtMs undefined: it is not known */
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
  /** Clients may go on that have waited for an answer. */
  readonly answered: () => void;
}

/** Tells the others what the accounts of this process have spent: all of a turn at once. */
export class RateBank {
  readonly #options: RateBankOptions;
  readonly #due = new Set<SharedAccount>();

  constructor(options: RateBankOptions) {
    this.#options = options;
  }

  /** @param delivered counts deliveries of this process alone */
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
