import { reasonOf } from '@apus/broker';
import {
  DataDirectoryError,
  DiskError,
  firstNumberOf,
  type Journal,
  type JournalContent,
  type Kind,
  type Operations,
} from '@apus/store-disk';
import type { Engine, Script } from './engine.ts';
import { NUMBERS_PER_EPOCH, SCAN_BYTES, SCAN_COUNT_FIRST, SCAN_COUNT_MAX } from './limits.ts';
import type { Membership } from './membership.ts';

/** Writes to some journals at once. If the process has been given up, it changes nothing. */
const COMMIT: Script = {
  name: 'apusCommit',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local at = 2
for i = 2, #KEYS do
  local puts, removes = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  at = at + 2
  for _ = 1, puts do
    redis.call('HSET', KEYS[i], ARGV[at], ARGV[at + 1])
    at = at + 2
  end
  for _ = 1, removes do
    redis.call('HDEL', KEYS[i], ARGV[at])
    at = at + 1
  end
end
return 1`,
};

/** The operations on one journal. */
class Changes {
  readonly puts: (string | Uint8Array)[] = [];
  readonly removes: string[] = [];
}

/**
 * The journals of a process: a hash for each of its epochs, and for each epoch of the processes whose sessions it has
 * taken over. The number of a session, or of a message for several sessions, says in which epoch it began.
 */
export class EngineJournal implements Journal {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  /** @throws {DiskError} if the other processes have given this one up; then nothing was written */
  async commit(operations: Operations): Promise<void> {
    const byEpoch = new Map<number, Changes>();
    for (const [key, value] of operations) {
      const epoch = Math.floor(firstNumberOf(key) / NUMBERS_PER_EPOCH);
      let changes = byEpoch.get(epoch);
      if (changes === undefined) {
        changes = new Changes();
        byEpoch.set(epoch, changes);
      }
      if (value === undefined) changes.removes.push(key);
      else changes.puts.push(key, asBuffer(value));
    }
    const keys = [this.#membership.membersKey];
    const args: (string | number | Uint8Array)[] = [this.#membership.me];
    for (const [epoch, { puts, removes }] of byEpoch) {
      keys.push(this.#engine.key('journal', epoch));
      args.push(puts.length / 2, removes.length, ...puts, ...removes);
    }
    if ((await this.#engine.run(COMMIT, keys, args)) === 1) return;
    throw new DiskError(GIVEN_UP);
  }

  /** The journal of a new process is empty. */
  scan(): Iterable<readonly [string, Buffer]> {
    return [];
  }

  damage(where: string, error: unknown): Error {
    return damageOf(where, error);
  }

  /** Reads all entries of some journals: those of a dead process. */
  async read(epochs: readonly number[]): Promise<JournalContent> {
    const records: [string, Buffer][] = [];
    let count = SCAN_COUNT_FIRST;
    for (const epoch of epochs) {
      let cursor = '0';
      const seen = new Map<string, Buffer>();
      do {
        const [next, found] = await this.#engine.client.hscanBuffer(
          this.#engine.key('journal', epoch),
          cursor,
          'COUNT',
          count,
        );
        for (let index = 0; index < found.length; index += 2)
          seen.set((found[index] as Buffer).toString(), found[index + 1] as Buffer);
        cursor = next.toString();
        count = nextCount(count, found as Buffer[]);
      } while (cursor !== '0');
      for (const record of seen) records.push(record);
    }
    return contentOf(records);
  }
}

/** Records of the next answer, which is to have as many bytes as one may have. */
function nextCount(count: number, found: readonly Buffer[]): number {
  const bytes = found.reduce((sum, { length }) => sum + length, 1);
  return Math.max(1, Math.min(SCAN_COUNT_MAX, Math.floor((count * SCAN_BYTES) / bytes)));
}

export const GIVEN_UP =
  'The other processes of the cluster have given this one up, since it did not renew its lease: they serve its ' +
  'sessions now. It acknowledges nothing any more, and has to be started anew.';

function contentOf(records: [string, Buffer][]): JournalContent {
  records.sort(([one], [other]) => (one < other ? -1 : 1));
  const byKind = new Map<string, [string, Buffer][]>();
  for (const record of records) {
    const kind = record[0].slice(0, 1);
    const list = byKind.get(kind);
    if (list === undefined) byKind.set(kind, [record]);
    else list.push(record);
  }
  return { scan: (kind: Kind) => byKind.get(kind) ?? [], damage: damageOf };
}

function damageOf(where: string, error: unknown): Error {
  if (error instanceof DataDirectoryError) return error;
  return new DataDirectoryError(
    `The engine's data are damaged: ${where} cannot be read (${reasonOf(error)}).`,
    { cause: error },
  );
}

/** The client library takes bytes only as Buffers. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
