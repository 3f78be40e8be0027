import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { indexOf, KIND, packetIdOf } from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { type Item, numberOf, textOf } from './values.ts';

/** The window of a session as it was read. */
export class Window {
  readonly items: readonly Item[];
  readonly #used: Set<PacketId>;
  #room: number;
  readonly #view: QueueView;

  constructor(view: QueueView, items: readonly Item[]) {
    this.#view = view;
    this.items = items;
    this.#used = new Set(items.map(packetIdOf));
    const counted = items.filter((item) => this.isSentHere(item) && numberOf(item, 'w') === 1);
    this.#room = view.receiveMaximum - counted.length;
  }

  /** A PUBREL that was sent again holds its id without a place in the window: the ids can run out first. */
  get hasRoom(): boolean {
    return this.#room > 0 && this.#used.size < KEPT_PACKET_ID_MAX;
  }

  /** Whether packet ids 1 to Receive Maximum are the window: nothing else is in use. */
  get isRegular(): boolean {
    return this.items.every(
      (item) =>
        this.isSentHere(item) && numberOf(item, 'w') === 1 && packetIdOf(item) <= this.#view.receiveMaximum,
    );
  }

  get hasMessagesToSendAgain(): boolean {
    return this.items.some((item) => !this.isSentHere(item) && textOf(item, 'k') !== KIND.released);
  }

  get hasPubrelsToSendAgain(): boolean {
    return this.items.some((item) => !this.isSentHere(item) && textOf(item, 'k') === KIND.released);
  }

  isSentHere(item: Item): boolean {
    return textOf(item, 'c') === this.#view.connectionId;
  }

  takePlace(): void {
    this.#room -= 1;
  }

  /** The id is in use although it was not read. */
  use(packetId: PacketId): void {
    this.#used.add(packetId);
  }

  /** A free id for this message, in the window while that has one: the first is ever the same, see `firstId`. */
  freeId(fields: Item): PacketId | undefined {
    const { receiveMaximum } = this.#view;
    for (let step = 0; step < receiveMaximum; step += 1) {
      const packetId = firstId(fields, receiveMaximum, step);
      if (!this.#used.has(packetId)) return packetId;
    }
    for (let packetId = receiveMaximum + 1; packetId <= KEPT_PACKET_ID_MAX; packetId += 1) {
      if (!this.#used.has(packetId)) return packetId;
    }
    return undefined;
  }
}

/** The same ids in the same order for the same message. */
export function firstId(fields: Item, receiveMaximum: number, probe: number): PacketId {
  const name = (textOf(fields, 'm') ?? '') + indexOf(fields);
  let hash = 0;
  for (let index = 0; index < name.length; index += 1)
    hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0;
  return (((hash >>> 0) + probe) % receiveMaximum) + 1;
}
