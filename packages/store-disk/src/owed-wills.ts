import type { ConnectionId, SessionRef } from '@apus/broker';
import type { HeldWill } from '@apus/store-memory';
import { owedWillCodec, type StoredOwedWill } from './codec.ts';
import { owedWillKey } from './keys.ts';
import type { Writer } from './writer.ts';

/** Owed wills without a session: on the disk until they are done. */
export class OwedWills {
  readonly #writer: Writer;
  readonly #nextNumber: () => number;
  readonly #numbers = new Map<ConnectionId, number>();

  constructor(writer: Writer, nextNumber: () => number) {
    this.#writer = writer;
    this.#nextNumber = nextNumber;
  }

  has(connectionId: ConnectionId): boolean {
    return this.#numbers.has(connectionId);
  }

  /** Writes it as it stands, for the first time or again. */
  save({ tenant, clientId }: SessionRef, { will, identity, connectionId, messageId }: HeldWill): void {
    const number = this.#numbers.get(connectionId) ?? this.#nextNumber();
    this.#numbers.set(connectionId, number);
    const stored: StoredOwedWill = { tenant, clientId, connectionId, will, messageId, identity };
    this.#writer.put(owedWillKey(number), owedWillCodec.encode(stored));
  }

  restore(number: number, { connectionId }: StoredOwedWill): void {
    this.#numbers.set(connectionId, number);
  }

  /** The next start does not let it wait anew. */
  noteDue(number: number, stored: StoredOwedWill, dueAtMs: number): void {
    this.#writer.put(owedWillKey(number), owedWillCodec.encode({ ...stored, dueAtMs }));
  }

  remove(connectionId: ConnectionId): void {
    const number = this.#numbers.get(connectionId);
    if (number === undefined) return;
    this.#numbers.delete(connectionId);
    this.#writer.remove(owedWillKey(number));
  }
}
