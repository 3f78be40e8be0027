import { filterForShape, shapeOf } from '@apus/mqtt';
import { CLOCK_SKEW_MS, LEASE_MS, SHAPES_MAX } from '../limits.ts';
import { registryKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, VERSION } from '../table/values.ts';

interface Lease {
  readonly shapes: ReadonlyMap<string, number>;
  readonly readAtMs: number;
}

/** The prefix of attributes that are shapes. */
const SHAPE = '~';

/**
 * The filter shapes of a tenant, a set that only grows: one item, cached in each process for two seconds.
 *
 *     subscriber (process A)             publisher (process B)
 *                                        reads the registry: no `.+`
 *     adds `.+`
 *     writes the head of a/+
 *     waits two seconds                  publishes a/b: its lease holds, it looks for no `.+`
 *                                        the lease ends
 *     SUBACK                             publishes a/b: reads the registry, finds the head
 *
 * So every publish that begins after a SUBACK finds the subscriber.
 */
export class ShapeRegistry {
  readonly #table: Table;
  readonly #leases = new Map<string, Lease>();
  /** Shapes that every process knows. */
  readonly #inAllProcesses = new Set<string>();

  constructor(table: Table) {
    this.#table = table;
  }

  /** The filters that may match the topic, one for each shape that fits it. */
  async candidates(tenant: string, topicName: string): Promise<string[]> {
    const filters: string[] = [];
    for (const shape of (await this.#lease(tenant)).shapes.keys()) {
      const filter = filterForShape(shape, topicName);
      if (filter !== undefined) filters.push(filter);
    }
    return filters;
  }

  /**
   * Enters the filter's shape. Returns how long its SUBACK has to wait; undefined if there are too many shapes.
   */
  async enter(tenant: string, topicFilter: string): Promise<number | undefined> {
    const shape = shapeOf(topicFilter);
    const name = `${tenant}\0${shape}`;
    if (this.#inAllProcesses.has(name)) return 0;
    const nowMs = this.#table.settings.clock.now();
    const knownSinceMs = (await this.#lease(tenant)).shapes.get(shape) ?? (await this.#add(tenant, shape));
    if (knownSinceMs === undefined) return undefined;
    return nowMs - knownSinceMs > LEASE_MS + CLOCK_SKEW_MS ? this.#noteInAllProcesses(name) : LEASE_MS;
  }

  /** The wait for this shape is over. */
  waited(tenant: string, topicFilter: string): void {
    this.#noteInAllProcesses(`${tenant}\0${shapeOf(topicFilter)}`);
  }

  #noteInAllProcesses(name: string): number {
    this.#inAllProcesses.add(name);
    return 0;
  }

  async #lease(tenant: string): Promise<Lease> {
    const known = this.#leases.get(tenant);
    // The time of the request and not of the answer, which may miss a shape that was added in between.
    const nowMs = this.#table.settings.clock.now();
    if (known !== undefined && nowMs - known.readAtMs < LEASE_MS) return known;
    const lease = { shapes: shapesOf(await this.#table.get(registryKey(tenant))), readAtMs: nowMs };
    this.#leases.set(tenant, lease);
    return lease;
  }

  /** Returns when the shape was entered, by this or another process. */
  async #add(tenant: string, shape: string): Promise<number | undefined> {
    const isNew = 'attribute_not_exists(#shape)';
    const hasRoom = '(attribute_not_exists(n) OR n < :maximum)';
    const nowMs = this.#table.settings.clock.now();
    const { ok, old } = await this.#table.update(
      registryKey(tenant),
      'SET #shape = :now, v = :v ADD n :one',
      {
        condition: `${isNew} AND ${hasRoom}`,
        names: { '#shape': SHAPE + shape },
        values: {
          ':now': number(nowMs),
          ':v': number(VERSION),
          ':one': number(1),
          ':maximum': number(SHAPES_MAX),
        },
      },
    );
    // A publish of this process has to find it at once.
    this.#leases.delete(tenant);
    return ok ? nowMs : numberOf(old, SHAPE + shape);
  }
}

function shapesOf(item: Item | undefined): Map<string, number> {
  const shapes = new Map<string, number>();
  for (const name of Object.keys(item ?? {})) {
    if (name.startsWith(SHAPE)) shapes.set(name.slice(SHAPE.length), numberOf(item, name) ?? 0);
  }
  return shapes;
}
