import { usdOf } from './price.ts';
import { type PriceName, priceOf } from './price-book.ts';
import { USAGE_KINDS, USAGE_NAMES, type Usage, type UsageName } from './usage.ts';

/** One line: a quantity of something at its price. */
export interface BillLine {
  readonly label: string;
  readonly price: PriceName;
  /** The quantity, in units of the price. */
  readonly quantity: number;
  /** The average price of a unit, tiers and free tier included. */
  readonly unitUsd: number;
  readonly usd: number;
  /** The line's share of the whole bill, from 0 to 1. */
  readonly share: number;
  /** The kind of usage, if the line comes from one. */
  readonly usage?: UsageName;
}

export interface Bill {
  /** The most expensive first; unused items have no line. */
  readonly lines: readonly BillLine[];
  readonly usd: number;
}

export interface BillOptions {
  /**
   * Applies the providers' free tiers, including those of an account's first year.
   * @default false
   */
  readonly freeTiers?: boolean;
}

/** A quantity without its price. */
export interface Item {
  readonly label: string;
  readonly price: PriceName;
  readonly quantity: number;
  readonly usage?: UsageName;
}

/**
 * The bill of the usage of one calendar month: tiers and free tiers go by the month.
 *
 * ```ts
 * const { usd, lines } = billOf(usage({ gatewayMessagesIn: 1_000_000, lambdaRequests: 1_000_000 }));
 * // usd: 1.2; lines[0].label: 'Gateway messages in'
 * ```
 *
 * @throws {RangeError} for a quantity that is negative or no number
 */
export function billOf(used: Partial<Usage>, options: BillOptions = {}): Bill {
  const items = USAGE_NAMES.map((name): Item => {
    const { label, price, perUnit = 1 } = USAGE_KINDS[name];
    return { label, price, quantity: (used[name] ?? 0) / perUnit, usage: name };
  });
  return billOfItems(items, options);
}

/** The bill of quantities of any items in the price book. */
export function billOfItems(items: readonly Item[], { freeTiers = false }: BillOptions = {}): Bill {
  for (const item of items) checkQuantity(item);
  const together = quantities(items);
  const priced = items
    .filter(({ quantity }) => quantity > 0)
    .map((item) => {
      const whole = together.get(item.price) ?? item.quantity;
      // Lines with the same price share its tiers: each pays the average.
      const unitUsd = usdOf(priceOf(item.price), whole, freeTiers) / whole;
      return { ...item, unitUsd, usd: unitUsd * item.quantity };
    });
  const usd = priced.reduce((sum, line) => sum + line.usd, 0);
  const lines = priced.map((line) => ({ ...line, share: usd === 0 ? 0 : line.usd / usd }));
  return { lines: lines.sort((a, b) => b.usd - a.usd), usd };
}

/** Dollars for a million deliveries; undefined without deliveries. */
export function usdPerMillion(usd: number, deliveries: number): number | undefined {
  return deliveries > 0 ? (usd / deliveries) * 1_000_000 : undefined;
}

function quantities(items: readonly Item[]): ReadonlyMap<PriceName, number> {
  const sums = new Map<PriceName, number>();
  for (const { price, quantity } of items) sums.set(price, (sums.get(price) ?? 0) + quantity);
  return sums;
}

function checkQuantity({ label, quantity }: Item): void {
  if (Number.isFinite(quantity) && quantity >= 0) return;
  throw new RangeError(`${label}: a bill takes quantities from 0 up, not ${quantity}`);
}
