/** A provider's free amount of each month. It is only applied on request. */
export interface FreeTier {
  /** In the unit of its price. */
  readonly quantity: number;
  /** `always`, or the number of months from the opening of the account. */
  readonly months: 'always' | number;
}

/** One published price. */
export interface Price {
  readonly service: string;
  /** The billed item, as the provider calls it. */
  readonly item: string;
  /** The unit of the item, such as `message of 32 KB begun`. */
  readonly unit: string;
  /** Dollars for `per` units. */
  readonly usd: number;
  readonly per: number;
  /** AWS Region, or `all` if the provider has one price. */
  readonly region: string;
  /** Month in which the price was read, such as `2026-08`. */
  readonly date: string;
  /** The page that publishes it. */
  readonly source: string;
  /** `unconfirmed`: found in one place only, or inferred. */
  readonly status: 'documented' | 'unconfirmed';
  /** The price of `per` units above this many units a month, by quantity. */
  readonly above?: readonly { readonly quantity: number; readonly usd: number }[];
  readonly free?: FreeTier;
  /** A note for applying it. */
  readonly note?: string;
}

const MILLION = 1_000_000;

/** Bytes of a gigabyte for data transfer and logs: decimal, which gives the higher price. */
export const GIGABYTE = 1_000_000_000;

/** The marginal price of one unit, in dollars, before any tier. */
export function unitUsd({ usd, per }: Price): number {
  return usd / per;
}

/** Dollars for a month's quantity; `free` subtracts the free tier first. */
export function usdOf(price: Price, quantity: number, free = false): number {
  const billed = Math.max(0, quantity - (free ? (price.free?.quantity ?? 0) : 0));
  let usd = 0;
  let from = 0;
  let tierUsd = price.usd;
  for (const tier of price.above ?? []) {
    if (billed <= tier.quantity) break;
    usd += ((tier.quantity - from) * tierUsd) / price.per;
    from = tier.quantity;
    tierUsd = tier.usd;
  }
  return usd + ((billed - from) * tierUsd) / price.per;
}

/** The fields that prices of one provider, Region and date share. */
export interface Origin {
  readonly service: string;
  readonly region: string;
  readonly date: string;
  readonly source: string;
}

type Details = Partial<Pick<Price, 'above' | 'free' | 'note' | 'status'>>;

/** A price for a million units. */
export function perMillion(
  origin: Origin,
  item: string,
  unit: string,
  usd: number,
  details: Details = {},
): Price {
  return { ...origin, item, unit, usd, per: MILLION, status: 'documented', ...details };
}

export function each(origin: Origin, item: string, unit: string, usd: number, details: Details = {}): Price {
  return { ...origin, item, unit, usd, per: 1, status: 'documented', ...details };
}
