import type { Awaitable, Ban, BanName, BanStore } from '@apus/broker';
import type { JournalContent } from './journal.ts';
import { banKey, Kind } from './keys.ts';
import type { Writer } from './writer.ts';

/** Bans on the disk, a record of JSON for each. The broker's list, in memory, is in force. */
export class DiskBans implements BanStore {
  readonly #writer: Writer;
  /** Those that were found when the directory was opened, and have been put since. */
  readonly #bans: Map<string, Ban>;

  private constructor(writer: Writer, bans: Map<string, Ban>) {
    this.#writer = writer;
    this.#bans = bans;
  }

  /** @throws {DataDirectoryError} when one cannot be read. */
  static open(content: JournalContent, writer: Writer): DiskBans {
    const bans = new Map<string, Ban>();
    try {
      for (const [key, value] of content.scan(Kind.Ban))
        bans.set(key, JSON.parse(Buffer.from(value).toString()) as Ban);
    } catch (error) {
      throw content.damage('a ban', error);
    }
    return new DiskBans(writer, bans);
  }

  all(): Iterable<Ban> {
    return this.#bans.values();
  }

  put(ban: Ban): Awaitable<boolean> {
    const key = banKey(ban);
    this.#bans.set(key, ban);
    this.#writer.put(key, Buffer.from(JSON.stringify(ban)));
    return this.#writer.durable(true);
  }

  remove(ban: BanName): Awaitable<void> {
    const key = banKey(ban);
    this.#bans.delete(key);
    this.#writer.remove(key);
    return this.#writer.durable(undefined);
  }
}
