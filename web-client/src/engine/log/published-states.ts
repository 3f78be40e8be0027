import type { PublishOutcome } from '../protocol.ts';
import type { Message } from './message.ts';

/** Repeated copies of one message, each with a row: more than these are not updated. */
const COPIES_MAX = 8;

/** The published messages that wait for the server's answer, and their outcomes. */
export class PublishedStates {
  /** By packet identifier. A repeated message follows its first copy. */
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
    // A message of unknown fate may be sent again, and answered then.
    if (state === 'unknown') return;
    if (packetId === undefined) this.#open.clear();
    else this.#open.delete(packetId);
  }
}
