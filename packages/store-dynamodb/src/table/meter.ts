import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item } from './values.ts';

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;

/** Request units of DynamoDB, and the calls that took them. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
  readonly calls: number;
}

/** Counts the units of every call: the bill of a run is read from here. */
export class Meter {
  #reads = 0;
  #writes = 0;
  #calls = 0;

  read(units: number): void {
    this.#reads += units;
    this.#calls += 1;
  }

  write(units: number): void {
    this.#writes += units;
    this.#calls += 1;
  }

  get units(): Units {
    return { reads: this.#reads, writes: this.#writes, calls: this.#calls };
  }

  /** The units consumed since an earlier reading. */
  since({ reads, writes, calls }: Units): Units {
    return { reads: this.#reads - reads, writes: this.#writes - writes, calls: this.#calls - calls };
  }
}

/** Units of a strongly consistent read: of one item, or of the items of a Query together. A missing item costs one. */
export function readUnits(itemBytes: number): number {
  return Math.max(1, Math.ceil(itemBytes / READ_UNIT_BYTES));
}

export function writeUnits(itemBytes: number): number {
  return Math.max(1, Math.ceil(itemBytes / WRITE_UNIT_BYTES));
}

/** As DynamoDB counts: the UTF-8 bytes of names and strings, bytes as they are, numbers by their digits. */
export function sizeOf(item: Item | undefined): number {
  let size = 0;
  for (const [name, value] of Object.entries(item ?? {}))
    size += Buffer.byteLength(name) + sizeOfValue(value);
  return size;
}

function sizeOfValue({ S, N, B, SS, M }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.ceil(N.length / 2) + 1;
  if (B !== undefined) return B.length;
  if (SS !== undefined) return SS.reduce((sum, each) => sum + Buffer.byteLength(each), 3);
  return M === undefined ? 1 : sizeOf(M) + 3;
}
