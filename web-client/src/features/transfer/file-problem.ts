import type { transferWords } from './strings.ts';

/** The reason why a file cannot be imported, as a key of `transfer.problems`. */
export type FileProblemKey = keyof typeof transferWords.problems;

/** The place of an error in a file: an entry of a list, or a line. */
export interface Place {
  readonly kind: 'entry' | 'line';
  readonly number: number;
}

/** The values that the sentences of `transfer.problems` interpolate. */
export interface ProblemValues {
  readonly detail: string;
  readonly name: string;
  readonly version: string;
  readonly count: number;
  readonly max: number;
  readonly mebibytes: number;
}

const NO_VALUES: ProblemValues = { detail: '', name: '', version: '', count: 0, max: 0, mebibytes: 0 };

/** The error in a file that the user chose: it is shown, and nothing of the file is imported. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
  readonly key: FileProblemKey;
  readonly values: ProblemValues;
  readonly place: Place | undefined;

  constructor(key: FileProblemKey, values: Partial<ProblemValues> = {}, place?: Place) {
    super(key);
    this.key = key;
    this.values = { ...NO_VALUES, ...values };
    this.place = place;
  }
}
