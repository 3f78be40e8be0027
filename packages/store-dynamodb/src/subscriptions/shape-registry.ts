import { type QuotaHolder, quotaHolderKey, steadyNow } from '@apus/broker';
import { filterForShape, shapeOf } from '@apus/mqtt';
import {
  CLOCK_SKEW_MS,
  DECISIONS_MAX,
  FILTER_SHAPES_OF_IDENTITY_MAX,
  LEASE_MS,
  SHAPE_TRUSTED_MS,
  SHAPES_MAX,
} from '../limits.ts';
import type { RetainedHoldings } from '../quotas/retained-holdings.ts';
import { ContentionError } from '../table/errors.ts';
import { registryKey, shortHash } from '../table/keys.ts';
import type { Table, Written } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';

export interface Shape {
  /** When it was entered. */
  readonly sinceMs: number;
  /** A hash of the holder that entered it. */
  readonly owner: string;
  /** When the sweep first found no subscription of it. Undefined: it is in use. */
  readonly unusedSinceMs?: number | undefined;
}

/** Finds the shapes to write, and to remove, and whether marked ones stay: then the sweep has to look again. */
export type JudgeShapes = (
  shapes: ReadonlyMap<string, Shape>,
  nowMs: number,
) => { readonly changes: ReadonlyMap<string, Shape | undefined>; readonly isMarked: boolean };

interface Content {
  readonly shapes: ReadonlyMap<string, Shape>;
  /** How often the registry has changed. */
  readonly change: number;
}

interface Lease extends Content {
  readonly readAtMs: number;
}

/** The prefix of attributes that are shapes: since when, the owner, and since when it is unused. */
const SHAPE = '~';

/** Names no holder: the session is the broker's own, or a test's. */
const NO_OWNER = '';

/**
 * The filter shapes of a tenant: one item, cached in each process for two seconds.
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
 *
 * One holder enters a share of the shapes at most [SEC-POOL-3]. The sweep gives back shapes without a subscription in
 * two steps [SEC-POOL-4]. A process trusts for ten minutes that a shape is there:
 *
 *     sweep                              subscriber
 *                                        reads that `.+` is there
 *     finds no subscription: marks `.+`
 *                                        within ten minutes: subscribes to a/+, without a look at the registry
 *     at least half an hour later: finds the subscription, and unmarks `.+`
 *
 * A subscriber that reads the mark unmarks the shape before it subscribes.
 */
export class ShapeRegistry {
  readonly #table: Table;
  readonly #holdings: Pick<RetainedHoldings, 'wantTenantCount'>;
  readonly #leases = new Map<string, Lease>();
  /** Until when a shape is trusted to be there, and known to every process. */
  readonly #known = new Map<string, number>();

  constructor(table: Table, holdings: Pick<RetainedHoldings, 'wantTenantCount'>) {
    this.#table = table;
    this.#holdings = holdings;
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
   * Enters the filter's shape for a holder. Returns how long its SUBACK has to wait; undefined if there are too many
   * shapes, or too many of this holder.
   */
  async enter(
    tenant: string,
    topicFilter: string,
    holder: QuotaHolder | undefined,
  ): Promise<number | undefined> {
    const name = nameOf(tenant, topicFilter);
    if ((this.#known.get(name) ?? Number.NEGATIVE_INFINITY) > steadyNow(this.#table.settings.clock)) return 0;
    const nowMs = this.#table.settings.clock.now();
    const owner = holder === undefined ? NO_OWNER : shortHash(quotaHolderKey(holder));
    const entered = await this.#enter(tenant, shapeOf(topicFilter), owner);
    if (entered === undefined) {
      await this.#holdings.wantTenantCount(tenant);
      return undefined;
    }
    if (nowMs - entered.sinceMs <= LEASE_MS + CLOCK_SKEW_MS) return LEASE_MS;
    this.waited(tenant, topicFilter);
    return 0;
  }

  /** The wait for this shape is over. */
  waited(tenant: string, topicFilter: string): void {
    this.#known.set(nameOf(tenant, topicFilter), steadyNow(this.#table.settings.clock) + SHAPE_TRUSTED_MS);
  }

  /** For the sweep. Where another process changes the registry meanwhile, nothing is changed. */
  async release(tenant: string, judge: JudgeShapes): Promise<void> {
    const { shapes, change } = contentOf(await this.#table.get(registryKey(tenant)));
    const { changes, isMarked } = judge(shapes, this.#table.settings.clock.now());
    if (changes.size > 0) await this.#write(tenant, change, changes);
    if (isMarked) await this.#holdings.wantTenantCount(tenant);
  }

  /** Undefined: there are too many. */
  async #enter(tenant: string, shape: string, owner: string): Promise<Shape | undefined> {
    let content: Content = await this.#lease(tenant);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const known = content.shapes.get(shape);
      if (known !== undefined && known.unusedSinceMs === undefined) return known;
      if (known === undefined && !hasRoom(content, owner)) return undefined;
      const entered = {
        owner,
        sinceMs: this.#table.settings.clock.now(),
        ...known,
        unusedSinceMs: undefined,
      };
      const { ok, old } = await this.#write(tenant, content.change, new Map([[shape, entered]]));
      if (ok) return entered;
      content = contentOf(old);
    }
    throw new ContentionError('the filter shapes', DECISIONS_MAX);
  }

  /** Writes or removes shapes, unless another process has changed the registry. */
  async #write(
    tenant: string,
    change: number,
    changes: ReadonlyMap<string, Shape | undefined>,
  ): Promise<Written> {
    const [set, removed]: [string[], string[]] = [['v = :v'], []];
    const names: Record<string, string> = {};
    const values = { ':v': number(VERSION), ':one': number(1), ...(change > 0 && { ':c': number(change) }) };
    for (const [shape, to] of changes) {
      const name = `s${Object.keys(names).length}`;
      names[`#${name}`] = SHAPE + shape;
      if (to === undefined) removed.push(`#${name}`);
      else {
        set.push(`#${name} = :${name}`);
        Object.assign(values, { [`:${name}`]: text(stored(to)) });
      }
    }
    const alsoRemoves = removed.length === 0 ? '' : ` REMOVE ${removed.join(', ')}`;
    const update = `SET ${set.join(', ')}${alsoRemoves} ADD c :one`;
    const condition = change === 0 ? 'attribute_not_exists(c)' : 'c = :c';
    const written = await this.#table.update(registryKey(tenant), update, { condition, names, values });
    // A publish of this process has to find it at once.
    this.#leases.delete(tenant);
    return written;
  }

  async #lease(tenant: string): Promise<Lease> {
    const known = this.#leases.get(tenant);
    // The time of the request and not of the answer, which may miss a shape that was added in between.
    const nowMs = steadyNow(this.#table.settings.clock);
    if (known !== undefined && nowMs - known.readAtMs < LEASE_MS) return known;
    const lease = { ...contentOf(await this.#table.get(registryKey(tenant))), readAtMs: nowMs };
    this.#leases.set(tenant, lease);
    return lease;
  }
}

function nameOf(tenant: string, topicFilter: string): string {
  return `${tenant}\0${shapeOf(topicFilter)}`;
}

function hasRoom({ shapes }: Content, owner: string): boolean {
  if (shapes.size >= SHAPES_MAX) return false;
  if (owner === NO_OWNER) return true;
  const own = [...shapes.values()].filter((each) => each.owner === owner);
  return own.length < FILTER_SHAPES_OF_IDENTITY_MAX;
}

function stored({ sinceMs, owner, unusedSinceMs }: Shape): string {
  return [sinceMs, owner, ...(unusedSinceMs === undefined ? [] : [unusedSinceMs])].join(' ');
}

function contentOf(item: Item | undefined): Content {
  const shapes = new Map<string, Shape>();
  for (const name of Object.keys(item ?? {})) {
    if (!name.startsWith(SHAPE)) continue;
    const [since, owner = NO_OWNER, unused] = (textOf(item, name) ?? '').split(' ');
    const unusedSinceMs = unused === undefined ? undefined : Number(unused);
    shapes.set(name.slice(SHAPE.length), { sinceMs: Number(since), owner, unusedSinceMs });
  }
  return { shapes, change: numberOf(item, 'c') ?? 0 };
}
