import type { DueTimer, SessionRef, Timer, Timers } from '@apus/broker';
import type { LocalTimers } from '@apus/door';
import type { GatedWriter } from '@apus/store-disk';
import { HubKind } from './storage/layout.ts';
import type { Records } from './storage/records.ts';

/**
 * The broker's timers. Those of sessions follow from their records when the object has lost its memory; when a lost client
 * leaves its rooms stands in a row.
 */
export class HubTimers implements Timers {
  readonly #timers: LocalTimers;
  readonly #writer: GatedWriter;

  constructor(timers: LocalTimers, writer: GatedWriter) {
    this.#timers = timers;
    this.#writer = writer;
  }

  set(timer: Timer, dueAtMs: number): void {
    if (timer.kind === 'presence') this.#writer.put(keyOf(timer.session), Buffer.from(String(dueAtMs)));
    void this.#timers.set(timer, dueAtMs);
  }

  cancel(timer: Timer): void {
    this.fired(timer);
    void this.#timers.cancel(timer);
  }

  fired({ kind, session }: Timer): void {
    if (kind === 'presence') this.#writer.remove(keyOf(session));
  }

  /** Sets what the stores have found, at the times that it was set for before. */
  restore(found: readonly DueTimer[], records: Records): void {
    const rows = new Map(records.texts(HubKind.Leave));
    for (const { timer, dueAtMs } of found) {
      if (timer.kind !== 'presence' || timer.session.attachment !== undefined) continue;
      const row = rows.get(keyOf(timer.session));
      this.set(timer, row === undefined ? dueAtMs : Number(row));
    }
    this.#timers.restore(found.filter(({ timer }) => timer.kind !== 'presence'));
  }
}

function keyOf({ tenant, clientId }: SessionRef): string {
  return `${HubKind.Leave}${JSON.stringify([tenant, clientId])}`;
}
