import type { Bill } from './bill.ts';
import { usdText } from './finding.ts';
import { unitUsd } from './price.ts';
import { type PriceName, priceBook, priceOf } from './price-book.ts';

/** Columns of text: the first to the left, the others to the right unless they are words. */
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

/** The price book as a table, with date and source. */
export function priceBookText(): string {
  const rows = (Object.keys(priceBook) as PriceName[]).map((name) => {
    const price = priceOf(name);
    const { service, item, unit, region, date, source, status } = price;
    return [service, item, unitPriceText(unitUsd(price)), unit, region, date, status, source];
  });
  const head = ['service', 'item', 'price', 'for one', 'region', 'date', 'status', 'source'];
  return tableText([head, ...rows], head.length);
}

export function quantityText(quantity: number): string {
  const digits = quantity >= 100 ? 0 : quantity >= 1 ? 2 : 6;
  return quantity.toLocaleString('en', { maximumFractionDigits: digits });
}

/** A price for one, or for a million where one costs next to nothing. */
function unitPriceText(usd: number): string {
  if (usd >= 0.01) return usdText(usd);
  const perMillion = usd * 1_000_000;
  return `$${perMillion.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })} / M`;
}
