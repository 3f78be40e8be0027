import {
  type Awaitable,
  type Log,
  noUsage,
  steadyNow,
  type UsageCounter,
  type UsageCounts,
  type UsageLine,
  type UsageQuestion,
  type UsageRow,
  UsageTally,
  usageHour,
  usageReport,
} from '@apus/broker';
import { type Scheduler, takeUsage } from '@apus/door';
import type { Links } from '../links.ts';
import type { NodeLink } from '../node-link.ts';
import type { LocalStores } from '../stores.ts';
import type { UsageJournal } from './usage-journal.ts';

/** A process that dies loses the usage of this time at most. */
export const USAGE_INTERVAL_SECONDS = 10;

export interface NodeUsageOptions {
  readonly links: Links;
  readonly stores: Pick<LocalStores, 'sessions' | 'retained'>;
  readonly queuedBytes: (tenant: string) => number;
  readonly journal: UsageJournal;
  readonly clock: Scheduler;
  readonly log: Log;
}

/**
 * The usage of each tenant of a node. Nothing is counted while messages pass: every ten seconds, and at the end of a
 * connection, it adds what connections have counted since.
 */
export class NodeUsage implements UsageCounter {
  readonly #options: NodeUsageOptions;
  readonly #tally: UsageTally;
  #lookedAtMs: number;
  #cancel: () => void = () => {};
  #saved: Promise<void> = Promise.resolve();

  constructor(options: NodeUsageOptions) {
    const { journal, clock } = options;
    this.#options = options;
    this.#tally = new UsageTally(() => clock.now());
    this.#lookedAtMs = steadyNow(clock);
    const { isWhole, rows } = journal.unfinished;
    for (const { tenant, hour, counts } of rows) this.#tally.addAt(tenant, hour, counts);
    // The earlier process was killed: up to an interval after its last look is missing.
    if (!isWhole) this.#addUncertain(rows);
  }

  start(): void {
    void this.#save(false);
    this.#arm();
  }

  #arm(): void {
    this.#cancel = this.#options.clock.after(USAGE_INTERVAL_SECONDS * 1000, () => {
      this.look();
      void this.#save(false);
      this.#arm();
    });
  }

  /** To be called when the clients have gone. */
  async stop(): Promise<void> {
    this.#cancel();
    this.look();
    await this.#save(true);
  }

  add(tenant: string, counts: Partial<UsageCounts>): void {
    this.#tally.add(tenant, counts);
  }

  /** A connection is gone. */
  ended(link: NodeLink): void {
    this.#take([link], steadyNow(this.#options.clock));
  }

  /** Adds what was used until now. */
  look(): void {
    const { links, clock } = this.#options;
    const nowMs = steadyNow(clock);
    this.#take(links.all(), nowMs);
    this.#takeStorage(nowMs);
    this.#lookedAtMs = nowMs;
  }

  /** Adds what was used until now, and stores it. */
  async save(): Promise<void> {
    this.look();
    await this.#save(false);
  }

  report(question: UsageQuestion): Awaitable<readonly UsageLine[]> {
    return this.#options.journal.isShared === true ? this.#reportOfAll(question) : this.#report(question);
  }

  async #reportOfAll(question: UsageQuestion): Promise<readonly UsageLine[]> {
    await this.save();
    return await this.#report(question);
  }

  #report(question: UsageQuestion): Awaitable<readonly UsageLine[]> {
    this.look();
    const rows = this.#options.journal.rows(question.from, question.to, this.#tally.rows);
    return rows instanceof Promise
      ? rows.then((all) => usageReport(all, question))
      : usageReport(rows, question);
  }

  /** Most connections belong to few tenants, and are idle: allocates nothing for each of them. */
  #take(links: Iterable<NodeLink>, nowMs: number): void {
    const used = new Map<string, UsageCounts>();
    for (const link of links) {
      const { tenant } = link;
      if (tenant === undefined) continue;
      let ofTenant = used.get(tenant);
      if (ofTenant === undefined) {
        ofTenant = noUsage();
        used.set(tenant, ofTenant);
      }
      takeUsage(link, nowMs, ofTenant);
    }
    for (const [tenant, counts] of used) this.#tally.add(tenant, counts);
  }

  /** Assumes that as much as is stored now was stored since the last look. */
  #takeStorage(nowMs: number): void {
    const { stores, queuedBytes } = this.#options;
    const seconds = (nowMs - this.#lookedAtMs) / 1000;
    const tenants = new Set([...stores.sessions.holdings.tenants(), ...stores.retained.tenants()]);
    for (const tenant of tenants) {
      const bytes = stores.retained.bytes(tenant) + queuedBytes(tenant);
      if (bytes > 0) this.#tally.add(tenant, { storageByteSeconds: Math.round(bytes * seconds) });
    }
  }

  #addUncertain(rows: readonly UsageRow[]): void {
    const last = rows
      .map(({ hour }) => hour)
      .sort()
      .at(-1);
    const uncertainMs = USAGE_INTERVAL_SECONDS * 1000;
    for (const { tenant, hour } of rows) if (hour === last) this.#tally.addAt(tenant, hour, { uncertainMs });
  }

  /** One save after another. */
  #save(isWhole: boolean): Promise<void> {
    const { journal, clock, log } = this.#options;
    this.#saved = this.#saved
      .then(async () => {
        const hour = usageHour(clock.now());
        const over = this.#tally.rows.filter((row) => row.hour < hour);
        if (over.length > 0) await journal.append(over);
        this.#tally.takeBefore(hour);
        await journal.save(this.#tally.rows, isWhole);
      })
      .catch((error: unknown) => log.error('usage-not-saved', { error: String(error) }));
    return this.#saved;
  }
}
