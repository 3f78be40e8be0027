import {
  type Clock,
  HOUR_MS,
  hourStartMs,
  noUsage,
  USAGE_FIELDS,
  type UsageCounts,
  type UsageLine,
  type UsageQuestion,
  type UsageRow,
  UsageTally,
  usageHour,
  usageReport,
} from '@apus/broker';
import { CountedUsage, type LinkTraffic } from '@apus/door';
import type { GatedWriter } from '@apus/store-disk';
import { USAGE_DAYS_MAX, USAGE_LOOK_MS, USAGE_ROW_MS } from './limits.ts';
import { HubKind } from './storage/layout.ts';
import type { Records } from './storage/records.ts';

/** The row of the usage that no other row has yet. It sorts before those of hours. */
const PRESENT_KEY = `${HubKind.Usage}!`;

/** Counts in the order of `USAGE_FIELDS`. */
type SavedRow = readonly [tenant: string, hour: string, ...counts: number[]];

/** The usage that no row of an hour has yet, as a row or a socket carries it. The one with the highest number is the last. */
export type UsageNote = readonly [
  number: number,
  lookedAtMs: number,
  connections: readonly (readonly [tenant: string, count: number])[],
  rows: readonly SavedRow[],
];

/** The connection whose traffic is counted. */
export interface CountedLink {
  readonly openedAtMs: number;
  readonly traffic: LinkTraffic;
  /** Of its client. Undefined: it has not connected. */
  tenant: string | undefined;
  /** For this class alone. */
  counted: CountedUsage | undefined;
}

export interface HubUsageContext {
  readonly clock: Clock;
  readonly records: Records;
  readonly writer: GatedWriter;
  /** Bytes that are kept, by tenant. */
  readonly kept: () => Iterable<readonly [tenant: string, bytes: number]>;
}

/**
 * The usage of the tenants of a hub. A row is written each ten minutes at most; meanwhile the sockets carry it, which costs
 * nothing. Time is counted from one look to the next, also that in which the object has slept.
 */
export class HubUsage {
  readonly #context: HubUsageContext;
  readonly #tally: UsageTally;
  readonly #connections = new Map<string, number>();
  #lookedAtMs: number;
  /** Of the last note. */
  #number = 0;
  #storedAtMs = Number.NEGATIVE_INFINITY;
  #hasChanged = false;
  #isDue = false;
  #isCarried = true;
  #note: UsageNote | undefined;

  constructor(context: HubUsageContext) {
    this.#context = context;
    this.#tally = new UsageTally(() => context.clock.now());
    this.#lookedAtMs = context.clock.now();
  }

  /** A socket or a row has everything that was counted. */
  get isCarried(): boolean {
    return this.#isCarried;
  }

  /**
   * Goes on from what was saved last, by a row or by a socket.
   *
   * @param links that have outlived the memory of the object. Of others nobody knows how long they have lived.
   */
  restore(carried: readonly (UsageNote | undefined)[], links: Iterable<CountedLink>): void {
    for (const { tenant } of links) if (tenant !== undefined) this.#connected(tenant, 1);
    const stored = this.#present();
    let last = stored;
    for (const note of carried) if (note !== undefined && note[0] > (last?.[0] ?? 0)) last = note;
    if (last === undefined) return;
    this.#storedAtMs = stored?.[1] ?? Number.NEGATIVE_INFINITY;
    const [number, lookedAtMs, connections, rows] = last;
    this.#number = number;
    this.#lookedAtMs = Math.min(this.#lookedAtMs, lookedAtMs);
    for (const [tenant, hour, ...counts] of rows) this.#tally.addAt(tenant, hour, countsOf(counts));
    // Sockets are gone, and with them what was counted since.
    const uncertainMs = this.#context.clock.now() - this.#lookedAtMs;
    for (const [tenant, count] of connections)
      if (count > (this.#connections.get(tenant) ?? 0)) this.add(tenant, { uncertainMs });
  }

  /** A client has connected. */
  opened(link: CountedLink, tenant: string): void {
    this.#look(true);
    link.tenant = tenant;
    this.#connected(tenant, 1);
    this.add(tenant, { connectionMs: Math.max(0, this.#lookedAtMs - link.openedAtMs) });
  }

  ended(link: CountedLink): void {
    if (link.tenant === undefined) return;
    this.#look(true);
    this.count([link]);
    this.#connected(link.tenant, -1);
  }

  /** Adds the traffic of connections since the last call. */
  count(links: Iterable<CountedLink>): void {
    const byTenant = new Map<string, UsageCounts>();
    for (const link of links) {
      if (link.tenant === undefined) continue;
      const counts = byTenant.get(link.tenant) ?? noUsage();
      byTenant.set(link.tenant, counts);
      link.counted ??= new CountedUsage(0);
      link.counted.take(link.traffic, 0, counts);
    }
    for (const [tenant, counts] of byTenant)
      if (counts.bytesIn > 0 || counts.bytesOut > 0) this.add(tenant, counts);
  }

  add(tenant: string, counts: Partial<UsageCounts>): void {
    this.#tally.add(tenant, counts);
    this.#hasChanged = true;
    this.#isCarried = false;
    this.#note = undefined;
  }

  /** No socket carries what was counted: the end of the event writes a row. */
  store(): void {
    this.#isDue = true;
  }

  /** For the sockets that the event saves. */
  get note(): UsageNote {
    this.#look(false);
    this.#note ??= this.#newNote();
    this.#isCarried = true;
    return this.#note;
  }

  /** Before the commit of an event. */
  settle(): void {
    const nowMs = this.#context.clock.now();
    if (!this.#isDue && !(this.#hasChanged && nowMs - this.#storedAtMs >= USAGE_ROW_MS)) return;
    this.#look(true);
    this.#store();
  }

  report(question: UsageQuestion): readonly UsageLine[] {
    this.#look(true);
    const present = this.#tally.rows;
    const keys = new Set(present.map(({ tenant, hour }) => rowKey(tenant, hour)));
    const past = this.#rows(question.from)
      .filter(([tenant, hour]) => !keys.has(rowKey(tenant, hour)))
      .map(([tenant, hour, ...counts]) => ({ tenant, hour, counts: countsOf(counts) }));
    return usageReport([...past, ...present], question);
  }

  #connected(tenant: string, count: number): void {
    const connections = (this.#connections.get(tenant) ?? 0) + count;
    if (connections > 0) this.#connections.set(tenant, connections);
    else this.#connections.delete(tenant);
  }

  /** Adds the time since the last look, to each of its hours. @param isExact now, also if it was a moment ago */
  #look(isExact: boolean): void {
    const nowMs = this.#context.clock.now();
    if (nowMs <= this.#lookedAtMs || (!isExact && nowMs - this.#lookedAtMs < USAGE_LOOK_MS)) return;
    const kept = [...this.#context.kept()];
    for (let fromMs = this.#lookedAtMs; fromMs < nowMs; ) {
      const hour = usageHour(fromMs);
      const toMs = Math.min(nowMs, hourStartMs(hour) + HOUR_MS);
      for (const [tenant, connections] of this.#connections)
        this.#tally.addAt(tenant, hour, { connectionMs: connections * (toMs - fromMs) });
      for (const [tenant, bytes] of kept) {
        const storageByteSeconds = Math.round((bytes * (toMs - fromMs)) / 1000);
        if (storageByteSeconds > 0) this.#tally.addAt(tenant, hour, { storageByteSeconds });
      }
      fromMs = toMs;
    }
    this.#lookedAtMs = nowMs;
    this.#note = undefined;
  }

  #store(): void {
    const { writer, clock } = this.#context;
    const past = this.#tally.takeBefore(usageHour(clock.now()));
    for (const row of past) writer.put(rowKey(row.tenant, row.hour), jsonOf(savedRow(row)));
    if (past.length > 0) this.#trim();
    this.#note = this.#newNote();
    writer.put(PRESENT_KEY, jsonOf(this.#note));
    this.#storedAtMs = clock.now();
    this.#hasChanged = false;
    this.#isDue = false;
    this.#isCarried = true;
  }

  #trim(): void {
    const { records, writer, clock } = this.#context;
    const oldest = `${HubKind.Usage}${usageHour(clock.now() - USAGE_DAYS_MAX * 24 * HOUR_MS)}`;
    for (const [key] of records.scan(HubKind.Usage)) {
      if (key >= oldest) return;
      if (key !== PRESENT_KEY) writer.remove(key);
    }
  }

  #newNote(): UsageNote {
    this.#number += 1;
    return [this.#number, this.#lookedAtMs, [...this.#connections], this.#tally.rows.map(savedRow)];
  }

  #present(): UsageNote | undefined {
    for (const [key, value] of this.#context.records.texts(HubKind.Usage))
      return key === PRESENT_KEY ? (JSON.parse(value) as UsageNote) : undefined;
    return undefined;
  }

  #rows(fromHour: string): SavedRow[] {
    const rows = this.#context.records.texts(HubKind.Usage, HubKind.Usage + fromHour);
    return Array.from(rows, ([, value]) => JSON.parse(value) as SavedRow);
  }
}

function savedRow({ tenant, hour, counts }: UsageRow): SavedRow {
  return [tenant, hour, ...USAGE_FIELDS.map((field) => counts[field])];
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function rowKey(tenant: string, hour: string): string {
  return `${HubKind.Usage}${hour} ${tenant}`;
}

/** A row of an earlier version may have fewer fields. */
function countsOf(counts: readonly number[]): UsageCounts {
  return Object.fromEntries(
    USAGE_FIELDS.map((field, index) => [field, counts[index] ?? 0]),
  ) as unknown as UsageCounts;
}
