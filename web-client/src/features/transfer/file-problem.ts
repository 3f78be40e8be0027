import type { transfer } from './strings.ts';

/** Why a file cannot be taken, as a key of `transfer.problems`. */
export type FileProblemKey = keyof typeof transfer.problems;

/** Where in a file something is wrong: an entry of a list, a line, or a row of a table with its header as the first. */
export interface Place {
  readonly kind: 'entry' | 'line' | 'row';
  readonly number: number;
}

/** What is wrong with a file that somebody chose: told to them, and nothing of it is taken. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
  readonly key: FileProblemKey;
  readonly values: Readonly<Record<string, string | number>>;
  readonly place: Place | undefined;

  constructor(key: FileProblemKey, values: Readonly<Record<string, string | number>> = {}, place?: Place) {
    super(key);
    this.key = key;
    this.values = values;
    this.place = place;
  }
}
