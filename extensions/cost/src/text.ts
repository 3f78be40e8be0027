import { type Bill, usdPerMillion } from './bill.ts';
import { usdText } from './finding.ts';
import { type Price, unitUsd } from './price.ts';
import { type PriceName, priceBook, priceOf } from './price-book.ts';

/** Columns of text: the first is left-aligned, the others right-aligned unless they are words. */
export function tableText(rows: readonly (readonly string[])[], leftColumns = 1): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column < leftColumns ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

/** A bill as a table: line, quantity, price, dollars, share. */
export function billText({ lines, usd }: Bill): string {
  const rows = lines.map((line) => [
    line.label,
    quantityText(line.quantity),
    unitPriceText(line.unitUsd),
    usdText(line.usd),
    `${(line.share * 100).toFixed(1)}%`,
  ]);
  return tableText([
    ['line', 'quantity', 'price', 'dollars', 'share'],
    ...rows,
    ['together', '', '', usdText(usd), ''],
  ]);
}

/** A service that could carry the traffic, with its price. */
export interface Choice {
  readonly name: string;
  readonly usd: number;
  /** The reason why not, if there is one. */
  readonly misfits: readonly string[];
}

/** Dollars, in brackets if the service lacks something that the traffic needs. */
export function offerText({ usd, misfits }: Pick<Choice, 'usd' | 'misfits'>): string {
  return misfits.length > 0 ? `(${usdText(usd)})` : usdText(usd);
}

/** The same for a column of text, in which the digits stand below each other. */
export function offerCell(offer: Pick<Choice, 'usd' | 'misfits'>): string {
  return offer.misfits.length > 0 ? offerText(offer) : `${offerText(offer)} `;
}

/** The same traffic at each service, the cheapest first, with dollars for a million deliveries. */
export function choicesText(choices: readonly Choice[], deliveries: number): string {
  const rows = [...choices]
    .sort((a, b) => a.usd - b.usd)
    .map((choice) => {
      const { name, usd, misfits } = choice;
      const perMillion = usdPerMillion(usd, deliveries);
      return [
        name,
        offerCell(choice),
        perMillion === undefined ? '' : usdText(perMillion),
        misfits.join(' '),
      ];
    });
  const [head = '', ...lines] = tableText(
    [['', 'dollars', 'per M deliveries'], ...rows.map((row) => row.slice(0, 3))],
    1,
  ).split('\n');
  return [head, ...lines.map((line, index) => `${line}  ${rows[index]?.[3] ?? ''}`.trimEnd())].join('\n');
}

/** The price book as a table, with date and source; below it tiers, free tiers (which no bill applies by itself), notes. */
export function priceBookText(): string {
  const prices = (Object.keys(priceBook) as PriceName[]).map(priceOf);
  const rows = prices.map((price) => {
    const { service, item, unit, region, date, source, status } = price;
    return [service, item, unitPriceText(unitUsd(price)), unit, region, date, status, source];
  });
  const head = ['service', 'item', 'price', 'for one', 'region', 'date', 'status', 'source'];
  const details = prices.flatMap((price) =>
    detailsOf(price).map((detail) => `- ${price.service}, ${price.item}: ${detail}`),
  );
  return [tableText([head, ...rows], head.length), '', ...details].join('\n');
}

function detailsOf({ above = [], free, note, per }: Price): readonly string[] {
  const details: string[] = [];
  for (const { quantity, usd } of above)
    details.push(`${unitPriceText(usd / per)} beyond ${quantityText(quantity)} a month.`);
  if (free !== undefined) {
    const until = free.months === 'always' ? '' : `, in an account's first ${free.months} months`;
    details.push(`${quantityText(free.quantity)} a month are free${until}.`);
  }
  if (note !== undefined) details.push(note);
  return details;
}

export function quantityText(quantity: number): string {
  const digits = quantity >= 100 ? 0 : quantity >= 1 ? 2 : 6;
  return quantity.toLocaleString('en', { maximumFractionDigits: digits });
}

/** Prices below this are given for a million units. */
const UNIT_USD_MIN = 0.001;

/** A price for one unit, or for a million if one costs next to nothing. */
export function unitPriceText(usd: number): string {
  if (usd >= 0.01) return usdText(usd);
  // An average, for example of twelve alarms of which ten are free.
  if (usd >= UNIT_USD_MIN) return `$${usd.toFixed(4)}`;
  const perMillion = usd * 1_000_000;
  return `$${perMillion.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })} / M`;
}
