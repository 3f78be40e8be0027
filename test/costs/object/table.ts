import { readFileSync, writeFileSync } from 'node:fs';
import { billOfItems, objectItems } from '@apus/cost';
import { blockOf, withBlock } from '../bench/block.ts';
import type { Counted } from './counts.ts';
import type { ObjectOperation } from './operations.ts';

/** The page with the table. */
export const PAGE = new URL('../../../loadtest/results/object-operations.md', import.meta.url);

const BLOCK = 'bench:object';

/** The columns that are counted, as they stand in the table. */
export const COLUMNS = {
  requests: 'requests',
  messages: 'messages in',
  framesOut: 'out',
  alarms: 'alarms',
  alarmsSet: 'alarms set',
  rowsRead: 'rows read',
  rowsWritten: 'rows written',
  commits: 'commits',
  awakeMs: 'awake ms',
} as const satisfies { readonly [K in keyof Counted]?: string };

type Column = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as readonly Column[];
const HEAD = ['operation', ...NAMES.map((name) => COLUMNS[name]), '$ / M'];

export interface Row {
  readonly name: string;
  readonly counted: Readonly<Record<Column, number>>;
  readonly usd: string;
}

export function rowOf({ name, deliveries }: ObjectOperation, counted: Counted): Row {
  return { name, counted, usd: usdOf(counted, deliveries).toFixed(4) };
}

/** Dollars for a million deliveries, or for a million operations that deliver nothing. Nothing is included. */
export function usdOf(counted: Row['counted'], deliveries: number): number {
  return (billOfItems(objectItems(counted)).usd * 1_000_000) / Math.max(1, deliveries);
}

export function readRows(): readonly Row[] {
  return blockOf(readFileSync(PAGE, 'utf8'), BLOCK)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) => {
      const [name = '', ...cells] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      const numbers = cells.map((cell) => Number(cell.replaceAll(',', '')));
      const counted = Object.fromEntries(NAMES.map((column, index) => [column, numbers[index]]));
      return { name, counted: counted as Row['counted'], usd: cells.at(-1) ?? '' };
    });
}

/** The row of an operation in the page. */
export function writtenRow(name: string): Row {
  const found = readRows().find((row) => row.name === name);
  if (found === undefined) throw new Error(`"${name}" has no row in the table`);
  return found;
}

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ name, counted, usd }) => [
    name,
    ...NAMES.map((column) => counted[column].toLocaleString('en')),
    usd,
  ]);
  return [HEAD, HEAD.map((_, column) => (column === 0 ? '---' : '---:')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

export function writeRows(rows: readonly Row[]): void {
  writeFileSync(PAGE, withBlock(readFileSync(PAGE, 'utf8'), BLOCK, tableOf(rows)));
}

/** What is billed and differs from the table, as sentences. */
export function differences(measured: Row): readonly string[] {
  const { counted } = writtenRow(measured.name);
  return NAMES.filter((name) => counted[name] !== measured.counted[name]).map(
    (name) =>
      `"${measured.name}", ${COLUMNS[name]}: the table has ${counted[name]}, counted was ${measured.counted[name]}`,
  );
}
