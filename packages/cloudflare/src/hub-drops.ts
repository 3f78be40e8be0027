import type { Clock, DropNotice, DropReason, SessionRef } from '@apus/broker';
import { DropMeter, type SavedDrops } from '@apus/door';
import type { ComposedStores, GatedWriter } from '@apus/store-disk';
import { HubKind } from './storage/layout.ts';
import type { Records } from './storage/records.ts';

interface HubDropsContext {
  readonly clock: Clock;
  readonly writer: GatedWriter;
  /** How long nothing may happen before counts are saved: the object stays awake meanwhile. */
  readonly quietMs: number;
}

/** Counts of drops that outlive the memory of the object: a sleeping one does not forget what it has to tell. */
export class HubDrops extends DropMeter {
  readonly #context: HubDropsContext;
  readonly #changed = new Set<string>();
  /** Keys of sessions that have rows. */
  readonly #saved = new Set<string>();

  constructor(context: HubDropsContext) {
    super(context.clock);
    this.#context = context;
  }

  /** Reads the counts of sessions that are still there. */
  read(records: Records, { sessions }: ComposedStores): void {
    for (const [row, value] of records.texts(HubKind.Drops)) {
      const [tenant, clientId] = JSON.parse(row.slice(HubKind.Drops.length)) as [string, string];
      const session = sessions.get(tenant, clientId)?.session;
      if (session === undefined) {
        this.#context.writer.remove(row);
        continue;
      }
      this.#saved.add(session.key);
      this.restore(session, JSON.parse(value) as SavedDrops);
    }
  }

  override add(session: SessionRef, why: DropReason, count: number): void {
    super.add(session, why, count);
    this.#note(session);
  }

  override take(session: SessionRef): DropNotice {
    this.#note(session);
    return super.take(session);
  }

  override forget(session: SessionRef): void {
    super.forget(session);
    if (this.#saved.has(session.key)) this.#note(session);
  }

  #note({ key }: SessionRef): void {
    if (this.#changed.size === 0) setTimeout(() => this.#save(), this.#context.quietMs);
    this.#changed.add(key);
  }

  #save(): void {
    const { writer } = this.#context;
    const changed = [...this.#changed];
    this.#changed.clear();
    // The object ends when a commit has failed.
    if (!writer.isWorking) return;
    for (const key of changed) {
      const drops = this.saved(key);
      if (drops !== undefined) {
        this.#saved.add(key);
        writer.put(rowOf(key), Buffer.from(JSON.stringify(drops)));
      } else if (this.#saved.delete(key)) writer.remove(rowOf(key));
    }
  }
}

/** @param key a `sessionKey` */
function rowOf(key: string): string {
  const end = key.indexOf('\0');
  return HubKind.Drops + JSON.stringify([key.slice(0, end), key.slice(end + 1)]);
}
