/** The usage of a tenant in some time. Every field is a whole number that only grows. */
export interface UsageCounts {
  /** Milliseconds of connections whose tenant is known, from their handshake on. */
  connectionMs: number;
  /** Messages from clients and backends. */
  messagesIn: number;
  /** Bytes of MQTT packets from clients, and payloads from backends. */
  bytesIn: number;
  /** Messages to clients, repetitions included. */
  messagesOutQos0: number;
  messagesOutQos1: number;
  messagesOutQos2: number;
  /** Bytes of MQTT packets to clients. */
  bytesOut: number;
  /** Frames of the gateway door in either direction, by 32 KB begun, as API Gateway bills them. */
  framesIn: number;
  framesOut: number;
  /** Bytes of retained and waiting messages, times the seconds for which they were kept. */
  storageByteSeconds: number;
  /** Milliseconds in which the tenant may have used more than was counted, since a process ended without a last row. */
  uncertainMs: number;
}

export type UsageField = keyof UsageCounts;

export const USAGE_FIELDS: readonly UsageField[] = [
  ...(['connectionMs', 'messagesIn', 'bytesIn'] as const),
  ...(['messagesOutQos0', 'messagesOutQos1', 'messagesOutQos2', 'bytesOut'] as const),
  ...(['framesIn', 'framesOut', 'storageByteSeconds', 'uncertainMs'] as const),
];

const NO_USAGE = Object.fromEntries(USAGE_FIELDS.map((field) => [field, 0])) as unknown as UsageCounts;

export function noUsage(): UsageCounts {
  return { ...NO_USAGE };
}

/** Adds `counts` to `to` in place. */
export function addCounts(to: UsageCounts, counts: Partial<UsageCounts>): void {
  for (const field of USAGE_FIELDS) to[field] += counts[field] ?? 0;
}

/** Counts what a tenant uses. Called beside the counted work, so it costs a few additions. */
export interface UsageCounter {
  add(tenant: string, counts: Partial<UsageCounts>): void;
}

/** The usage of a tenant in one hour. */
export interface UsageRow {
  readonly tenant: string;
  /** The hour's beginning in UTC, as `2026-11-25T18`. */
  readonly hour: string;
  readonly counts: Readonly<UsageCounts>;
}

/** A row of one of several processes that count for a tenant. */
export interface ProcessUsageRow extends UsageRow {
  readonly processId: string;
}

/** `2026-11-25T18` */
const HOUR_LENGTH = 13;

export const HOUR_MS = 3_600_000;

export function usageHour(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, HOUR_LENGTH);
}

export function hourStartMs(hour: string): number {
  return Date.parse(`${hour}:00:00Z`);
}

/** Usage in memory, by tenant and hour. */
export class UsageTally implements UsageCounter {
  readonly #now: () => number;
  #rows = new Map<string, { readonly tenant: string; readonly hour: string; readonly counts: UsageCounts }>();
  #hour = '';
  #nextHourMs = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(tenant: string, counts: Partial<UsageCounts>): void {
    this.addAt(tenant, this.#hourNow(), counts);
  }

  /** Adds to the named hour. */
  addAt(tenant: string, hour: string, counts: Partial<UsageCounts>): void {
    const key = `${hour} ${tenant}`;
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = { tenant, hour, counts: noUsage() };
      this.#rows.set(key, row);
    }
    addCounts(row.counts, counts);
  }

  /** All rows. They change as long as they are counted. */
  get rows(): readonly UsageRow[] {
    return [...this.#rows.values()];
  }

  /** Removes the rows of earlier hours, and returns them. */
  takeBefore(hour: string): readonly UsageRow[] {
    const taken = this.rows.filter((row) => row.hour < hour);
    for (const row of taken) this.#rows.delete(`${row.hour} ${row.tenant}`);
    return taken;
  }

  #hourNow(): string {
    const nowMs = this.#now();
    if (nowMs >= this.#nextHourMs || this.#nextHourMs - nowMs > HOUR_MS) {
      this.#hour = usageHour(nowMs);
      this.#nextHourMs = hourStartMs(this.#hour) + HOUR_MS;
    }
    return this.#hour;
  }
}
