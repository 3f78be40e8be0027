import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { type DrawnEntry, type DrawnList, isNamedBy } from './drawn-list.ts';
import { indexOf, KIND, LOOK, packetIdOf } from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { type Item, numberOf, textOf } from './values.ts';

/** What has been drawn and not acknowledged, of a list as it was read: its messages are there. */
export interface DrawnWindow {
  readonly list: DrawnList | undefined;
  /** Sent on this connection. */
  readonly here: readonly DrawnEntry[];
  /** Sent on an earlier one: to be sent again. */
  readonly elsewhere: readonly DrawnItem[];
  /** Being drawn for this connection by items of their own, or sent again by those, and not sent as yet: see `DrawnList`. */
  readonly moving: readonly string[];
}

export interface DrawnItem {
  readonly entry: DrawnEntry;
  readonly item: Item;
}

/** The window of a session as it was read: an item for each packet id, and what has been drawn. */
export class Window {
  readonly items: readonly Item[];
  readonly drawn: DrawnWindow;
  readonly #used: Set<PacketId>;
  #room: number;
  readonly #view: QueueView;

  constructor(view: QueueView, items: readonly Item[], drawn: DrawnWindow) {
    this.#view = view;
    this.items = items;
    this.drawn = drawn;
    const entries = [...drawn.here, ...drawn.elsewhere.map(({ entry }) => entry)];
    this.#used = new Set([...items.map(packetIdOf), ...entries.map(({ packetId }) => packetId)]);
    const counted = items.filter((item) => this.isSentHere(item) && numberOf(item, 'w') === 1);
    this.#room = view.receiveMaximum - counted.length - drawn.here.length - drawn.moving.length;
  }

  /** A PUBREL that was sent again holds its id without a place in the window: the ids can run out first. */
  get hasRoom(): boolean {
    return this.#room > 0 && this.#used.size < KEPT_PACKET_ID_MAX;
  }

  /** More is unacknowledged than the client takes [MQTT-3.3.4-9]. */
  get isExceeded(): boolean {
    return this.#room < 0;
  }

  /** Whether packet ids 1 to Receive Maximum are the window: nothing else is in use, and nothing that was drawn. */
  get isRegular(): boolean {
    const { here, elsewhere, moving } = this.drawn;
    if (here.length + elsewhere.length + moving.length > 0) return false;
    return this.items.every(
      (item) =>
        this.isSentHere(item) && numberOf(item, 'w') === 1 && packetIdOf(item) <= this.#view.receiveMaximum,
    );
  }

  get hasMessagesToSendAgain(): boolean {
    if (this.drawn.elsewhere.length > 0) return true;
    return this.items.some((item) => !this.isSentHere(item) && textOf(item, 'k') !== KIND.released);
  }

  get hasPubrelsToSendAgain(): boolean {
    return this.items.some((item) => !this.isSentHere(item) && textOf(item, 'k') === KIND.released);
  }

  /** Messages that were drawn for this connection, or sent to it again, have not been acknowledged, or are being drawn. */
  get isAwaited(): boolean {
    if (this.drawn.here.length + this.drawn.moving.length > 0) return true;
    return this.items.some(
      (item) =>
        this.isSentHere(item) &&
        numberOf(item, 'f') === LOOK.moreBehind &&
        textOf(item, 'k') !== KIND.released,
    );
  }

  /** What was drawn for this connection last left in pushes, or is about to. */
  get wasPushed(): boolean {
    const { list } = this.drawn;
    return list?.isPushed === true && list.connectionId === this.#view.connectionId;
  }

  /** Of the items that have a place in the window of this connection. */
  get packetIdsHere(): PacketId[] {
    return this.items.filter((item) => this.isSentHere(item) && numberOf(item, 'w') === 1).map(packetIdOf);
  }

  /** The acknowledgement of something in it looks for what waits. */
  get isLookedAfter(): boolean {
    if (this.drawn.here.length + this.drawn.moving.length > 0) return true;
    return this.items.some((item) => this.isSentHere(item) && item.f !== undefined);
  }

  isSentHere(item: Item): boolean {
    return textOf(item, 'c') === this.#view.connectionId;
  }

  /** It has been drawn and sent on this connection, or is about to be: its acknowledgement is awaited. */
  isDrawnHere(waiting: Item): boolean {
    const isMoving = this.drawn.moving.includes(textOf(waiting, 's') ?? '');
    return isMoving || this.drawn.here.some((entry) => isNamedBy(entry, waiting));
  }

  takePlace(): void {
    this.#room -= 1;
  }

  /** The id is in use although it was not read. */
  use(packetId: PacketId): void {
    this.#used.add(packetId);
  }

  /**
   * A free id for a message that is drawn, above those that publishers draw, so that an acknowledgement says by its id
   * where to look; below where those have run out.
   */
  freeIdForDrawn(): PacketId | undefined {
    const { receiveMaximum } = this.#view;
    for (let packetId = receiveMaximum + 1; packetId <= KEPT_PACKET_ID_MAX; packetId += 1) {
      if (!this.#used.has(packetId)) return packetId;
    }
    for (let packetId = 1; packetId <= Math.min(receiveMaximum, KEPT_PACKET_ID_MAX); packetId += 1) {
      if (!this.#used.has(packetId)) return packetId;
    }
    return undefined;
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
