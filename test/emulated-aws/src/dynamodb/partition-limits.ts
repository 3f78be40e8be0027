import type { Clock } from '@apus/emulator/service';

type Kind = 'read' | 'write';

export interface UnitsPerSecond {
  readonly read: number;
  readonly write: number;
}

interface Bucket {
  units: number;
  filledAtMs: number;
}

/** Buckets that are full again are forgotten once there are this many. */
const BUCKETS_MAX = 10_000;

/**
 * The units that one partition key serves in a second. The cost of a call is only known after it. So a bucket that is
 * not empty admits a call, and may become negative: then the next calls wait longer.
 */
export class PartitionLimits {
  readonly #clock: Clock;
  readonly #perSecond: UnitsPerSecond;
  readonly #buckets = new Map<string, Bucket>();

  /** @param perSecond Infinity: no limit */
  constructor(clock: Clock, perSecond: UnitsPerSecond) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  isOpen(tableName: string, partitionKey: string, kind: Kind): boolean {
    const bucket = this.#buckets.get(nameOf(tableName, partitionKey, kind));
    return bucket === undefined || this.#fill(bucket, kind) > 0;
  }

  charge(tableName: string, partitionKey: string, kind: Kind, units: number): void {
    const perSecond = this.#perSecond[kind];
    if (!Number.isFinite(perSecond)) return;
    const name = nameOf(tableName, partitionKey, kind);
    const bucket = this.#buckets.get(name) ?? { units: perSecond, filledAtMs: this.#clock.now() };
    this.#fill(bucket, kind);
    bucket.units -= units;
    if (this.#buckets.size >= BUCKETS_MAX) this.#forgetFull();
    this.#buckets.set(name, bucket);
  }

  #fill(bucket: Bucket, kind: Kind): number {
    const nowMs = this.#clock.now();
    const perSecond = this.#perSecond[kind];
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.units = Math.min(perSecond, bucket.units + (elapsedMs / 1_000) * perSecond);
    bucket.filledAtMs = nowMs;
    return bucket.units;
  }

  #forgetFull(): void {
    for (const [name, bucket] of this.#buckets) {
      const kind: Kind = name.startsWith('read') ? 'read' : 'write';
      if (this.#fill(bucket, kind) >= this.#perSecond[kind]) this.#buckets.delete(name);
    }
  }
}

function nameOf(tableName: string, partitionKey: string, kind: Kind): string {
  return `${kind}\0${tableName}\0${partitionKey}`;
}
