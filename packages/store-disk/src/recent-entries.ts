import type { StreamEntry } from '@apus/broker';
import { streamEntryBytes } from '@apus/store-memory';
import { RECENT_ENTRIES_BYTES_MAX } from './limits.ts';

/**
 * Entries of streams that were appended or read last, by their key: readers that come back want the same newest ones,
 * and a record takes longer to decode than to send.
 */
export class RecentEntries {
  /** The oldest first. */
  readonly #entries = new Map<string, StreamEntry>();
  #bytes = 0;

  get(key: string): StreamEntry | undefined {
    return this.#entries.get(key);
  }

  set(key: string, entry: StreamEntry): void {
    this.delete(key);
    this.#entries.set(key, entry);
    this.#bytes += streamEntryBytes(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= RECENT_ENTRIES_BYTES_MAX) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= streamEntryBytes(entry);
  }
}
