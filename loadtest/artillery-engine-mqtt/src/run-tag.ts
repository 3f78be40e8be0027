import { createHash } from 'node:crypto';

/** The id that Artillery gives to a test, the same in all of its workers. */
interface ArtilleryGlobal {
  readonly artillery?: { readonly testRunId?: string };
}

/** A number for this run: of Artillery's test id, or of this process where there is none. */
export function runTagOf(global: ArtilleryGlobal = globalThis as ArtilleryGlobal): number {
  const id = global.artillery?.testRunId ?? `${process.pid} ${process.hrtime.bigint()}`;
  return createHash('sha256').update(id).digest().readUInt16BE();
}
