import type { PublishOutcome } from '../protocol.ts';
import type { Message } from './message.ts';

/** Copies of one message that were sent again, of which each has a row: more than these are not told. */
const COPIES_MAX = 8;

/** The published messages that wait for the server's answer, and their outcomes. */
export class PublishedStates {
  /** By packet identifier. A message that was sent again stands behind its first copy. */
  readonly #open = new Map<number, Message[]>();

  sent(message: Message): void {
    const { packetId, dup } = message;
    if (packetId === undefined) return;
    const copies = this.#open.get(packetId);
    if (dup && copies !== undefined && copies.length < COPIES_MAX) copies.push(message);
    else this.#open.set(packetId, [message]);
  }

  resolve({ packetId, state, code, detail }: PublishOutcome): void {
    const messages = packetId === undefined ? [...this.#open.values()].flat() : this.#open.get(packetId);
    for (const message of messages ?? []) message.resolve({ state, code, detail });
    // One of unknown fate may be sent again, and answered then.
    if (state === 'unknown') return;
    if (packetId === undefined) this.#open.clear();
    else this.#open.delete(packetId);
  }
}
