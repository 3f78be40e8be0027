import { readFileSync, writeFileSync } from 'node:fs';
import { blockOf, withBlock } from './block.ts';
import { EXACT_COLUMNS, type Row, TIMED_COLUMNS } from './row.ts';

const BLOCK = 'bench:cloud';
const HEAD = ['operation', ...EXACT_COLUMNS, ...TIMED_COLUMNS];

/** The table in Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [HEAD, HEAD.map((_, column) => (column === 0 ? '---' : '---:'))];
  for (const { name, exact, timed } of rows) lines.push([name, ...exact, ...timed]);
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The rows of a page that has the table between its two marks. */
export function rowsOf(page: string): readonly Row[] {
  return blockOf(page, BLOCK)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .map((cells) => ({
      name: cells[0] ?? '',
      exact: cells.slice(1, -TIMED_COLUMNS.length),
      timed: cells.slice(-TIMED_COLUMNS.length),
    }));
}

export function readTable(file: URL): readonly Row[] {
  return rowsOf(readFileSync(file, 'utf8'));
}

/** The page with these rows instead of its former ones. */
export function writeTable(file: URL, rows: readonly Row[]): void {
  writeFileSync(file, withBlock(readFileSync(file, 'utf8'), BLOCK, tableOf(rows)));
}

/** The differences in the exact columns, as sentences. A measured row that the page lacks is a difference too. */
export function differences(measured: readonly Row[], documented: readonly Row[]): readonly string[] {
  return measured.flatMap(({ name, exact }) => {
    const row = documented.find((each) => each.name === name);
    if (row === undefined) return [`"${name}" has no row in the table`];
    return exact.flatMap((value, column) => {
      const before = row.exact[column];
      if (before === value) return [];
      return [`"${name}", ${EXACT_COLUMNS[column]}: the table has ${before}, measured was ${value}`];
    });
  });
}
