import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { appendFile, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Awaitable, addCounts, noUsage, type UsageRow } from '@apus/broker';
import { StartError } from '../start-error.ts';

/** Months have files of their own, so that old ones can be deleted. */
const MONTH_LENGTH = 7;
const PRESENT = 'present.json';
const MONTH_FILE = /^\d{4}-\d\d\.jsonl$/;

/** The file of rows that are not in a month's file yet. */
interface Present {
  /** The process has ended in order, and has counted everything. */
  readonly isWhole: boolean;
  readonly rows: readonly UsageRow[];
}

/** Where the usage of a node is kept. */
export interface UsageJournal {
  /** Other processes save their rows in it as well. @default it belongs to this process */
  readonly isShared?: boolean;
  /**
   * All rows, from the month of the first hour to that of the second: rows of hours that are over, and the present
   * ones; in a shared journal the present ones that were saved.
   */
  rows(from: string, to: string, present: readonly UsageRow[]): Awaitable<Iterable<UsageRow>>;
  /** Rows that the earlier process had not finished, and whether it had counted everything. */
  readonly unfinished: Present;
  /** Replaces the unfinished rows. */
  save(rows: readonly UsageRow[], isWhole: boolean): Promise<void>;
  /** Adds rows of hours that are over. */
  append(rows: readonly UsageRow[]): Promise<void>;
}

/** Rows of an hour in memory: some ten years of a tenant. */
const MEMORY_ROWS_MAX = 100_000;

/** Usage in memory: nothing survives the process. */
export class MemoryUsage implements UsageJournal {
  readonly unfinished: Present = { isWhole: true, rows: [] };
  readonly #past: UsageRow[] = [];

  rows(_from: string, _to: string, present: readonly UsageRow[]): Iterable<UsageRow> {
    return [...this.#past, ...present];
  }

  async save(): Promise<void> {}

  async append(rows: readonly UsageRow[]): Promise<void> {
    this.#past.push(...rows);
    if (this.#past.length > MEMORY_ROWS_MAX) this.#past.splice(0, this.#past.length - MEMORY_ROWS_MAX);
  }
}

/**
 * Usage in a folder: a file of JSON lines for each month, and one of the hours that are not over. A row is whole, so
 * it counts once even if it comes twice, because a process died between the two files.
 */
export class UsageFiles implements UsageJournal {
  readonly unfinished: Present;
  readonly #folder: string;

  /** @throws {StartError} when the folder cannot be used */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.unfinished = readPresent(join(folder, PRESENT));
    } catch (error) {
      throw new StartError(`The usage in ${folder} cannot be read: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  *rows(from: string, to: string, present: readonly UsageRow[]): Iterable<UsageRow> {
    // If a process died in between, a row is in the month's file and still in the file of the present.
    const ofPresent = new Set(present.map(({ tenant, hour }) => `${hour} ${tenant}`));
    for (const row of this.#past(from, to)) if (!ofPresent.has(`${row.hour} ${row.tenant}`)) yield row;
    yield* present;
  }

  *#past(from: string, to: string): Iterable<UsageRow> {
    const isAsked = (name: string): boolean =>
      MONTH_FILE.test(name) && monthOf(from) <= monthOf(name) && monthOf(name) <= monthOf(to);
    for (const name of readdirSync(this.#folder).filter(isAsked).sort())
      yield* lastOfEach(linesOf(readFileSync(join(this.#folder, name), 'utf8')));
  }

  async save(rows: readonly UsageRow[], isWhole: boolean): Promise<void> {
    const path = join(this.#folder, PRESENT);
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ isWhole, rows })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
  }

  async append(rows: readonly UsageRow[]): Promise<void> {
    for (const month of new Set(rows.map(({ hour }) => monthOf(hour)))) {
      const ofMonth = rows.filter(({ hour }) => monthOf(hour) === month);
      // If a crash has cut the last line, the next one needs an end of line before it.
      const lines = `\n${ofMonth.map((row) => `${JSON.stringify(row)}\n`).join('')}`;
      await appendFile(join(this.#folder, `${month}.jsonl`), lines, { mode: 0o600 });
    }
  }
}

function monthOf(time: string): string {
  return time.slice(0, MONTH_LENGTH);
}

function readPresent(path: string): Present {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { isWhole: true, rows: [] };
    throw error;
  }
  const { isWhole, rows } = JSON.parse(text) as Present;
  return { isWhole, rows: rows.map(readRow) };
}

/** Skips a line that a crash has cut: its row is in the file of the present. */
function* linesOf(text: string): Iterable<UsageRow> {
  for (const line of text.split('\n')) {
    const row = rowOf(line);
    if (row !== undefined) yield row;
  }
}

function rowOf(line: string): UsageRow | undefined {
  try {
    return line === '' ? undefined : readRow(JSON.parse(line) as UsageRow);
  } catch {
    return undefined;
  }
}

function lastOfEach(rows: Iterable<UsageRow>): Iterable<UsageRow> {
  const last = new Map<string, UsageRow>();
  for (const row of rows) last.set(`${row.hour} ${row.tenant}`, row);
  return last.values();
}

/** A file of an earlier version may have fewer fields. */
function readRow({ tenant, hour, counts }: UsageRow): UsageRow {
  const all = noUsage();
  addCounts(all, counts);
  return { tenant, hour, counts: all };
}
