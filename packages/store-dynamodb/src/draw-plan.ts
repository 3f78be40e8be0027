import { Page, type PageLimit, type Queued } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Bodies } from './bodies.ts';
import { type DrawnEntry, drawnEntryOf, isNamedBy } from './drawn-list.ts';
import { PageBodies } from './page-bodies.ts';
import {
  compareEntries,
  isExactlyOnce,
  isInflight,
  isSameEntry,
  KIND,
  packetIdOf,
  queuedOf,
  sizeOfEntry,
} from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import type { QueryPage } from './table.ts';
import { type Item, numberOf, textOf } from './values.ts';
import type { Waiting } from './waiting.ts';
import type { Window } from './window.ts';

/** What a page is made of, before anything is written. */
export type Step =
  /** Named by the list: drawn now, or sent again. */
  | {
      readonly does: 'list';
      readonly item: Item;
      readonly entry: DrawnEntry;
      readonly queued: Queued;
      readonly isNew: boolean;
    }
  /** Inflight by an item of its own: sent again. */
  | { readonly does: 'send-again'; readonly item: Item; readonly queued: Queued }
  /** Inflight by an item of its own on this connection, and waiting once more: sent again under its id. */
  | { readonly does: 'repeat'; readonly item: Item; readonly inflight: Item; readonly queued: Queued }
  /** At QoS 2: gets its packet id. */
  | { readonly does: 'move'; readonly item: Item }
  /** Expired, or without a body: leaves what waits. `isNew`: nobody has counted it as drawn. */
  | { readonly does: 'drop'; readonly item: Item; readonly isNew: boolean }
  /** Inflight by an item of its own, and without a body: it has waited longer than anything is kept. */
  | { readonly does: 'forget'; readonly item: Item };

/** A page of what may be sent next, from what was read: nothing is written here. */
export class DrawPlan {
  readonly steps: Step[] = [];
  readonly #waiting: Waiting;
  readonly #view: QueueView;
  readonly #nowMs: number;
  readonly #page: Page<Step>;
  readonly #window: Window;
  readonly #bodies: PageBodies;
  #isMessageLeft = false;
  #isPubrelLeft = false;
  #drawnTo: string | undefined;

  constructor(
    parts: { readonly waiting: Waiting; readonly bodies: Bodies },
    view: QueueView,
    window: Window,
    limit: PageLimit,
    nowMs: number,
  ) {
    this.#waiting = parts.waiting;
    this.#view = view;
    this.#window = window;
    this.#nowMs = nowMs;
    this.#page = new Page(limit);
    this.#bodies = new PageBodies(parts.bodies, view.session.tenant, limit);
  }

  /** A message waits, or has to be sent again, that did not fit the page or the window. */
  get isMessageLeft(): boolean {
    return this.#isMessageLeft;
  }

  get isPubrelLeft(): boolean {
    return this.#isPubrelLeft;
  }

  get hasSomethingToSend(): boolean {
    return this.#page.entries.length > 0;
  }

  /** The sort key up to which everything that was seen to wait is on the page. Undefined: nothing is. */
  get drawnTo(): string | undefined {
    return this.#drawnTo;
  }

  /** The first page of what waits was read before the window. */
  async make(first: QueryPage): Promise<void> {
    const again = this.#toSendAgain();
    const isNew = (item: Item) => !this.#window.isDrawnHere(item);
    await this.#bodies.readAhead([...again, ...first.items.filter(isNew)]);
    // While a message is left that is to be sent again, no shorter one that came after it may take its place.
    this.#isMessageLeft = !((await this.#planAgain(again)) && (await this.#planAll(first)));
  }

  /** Undefined when its body is gone. */
  async queued(item: Item, packetId: PacketId, dup: boolean): Promise<Queued | undefined> {
    return queuedOf(item, await this.#bodies.of(item), this.#view.session, packetId, dup);
  }

  /** Of what is inflight by itself, and of what was drawn: in their order. */
  #toSendAgain(): Item[] {
    const { items, drawn } = this.#window;
    const inflight = items.filter((item) => !this.#window.isSentHere(item));
    return [...inflight, ...drawn.elsewhere.map(({ item }) => item)].sort(compareEntries);
  }

  /** False when a message is left that has to be sent again. */
  async #planAgain(again: readonly Item[]): Promise<boolean> {
    let areResent = true;
    for (const item of again) {
      const isPubrel = isInflight(item) && textOf(item, 'k') === KIND.released;
      const size = isPubrel ? 0 : sizeOfEntry(item);
      // A full window holds back messages, never a PUBREL [MQTT-3.3.4-10].
      const isNext = isPubrel || (areResent && this.#window.hasRoom);
      if (isNext && this.#page.hasRoom(size)) await this.#planOneAgain(item, size);
      else {
        this.#isPubrelLeft ||= isPubrel;
        if (!isPubrel) areResent = false;
      }
    }
    return areResent;
  }

  async #planOneAgain(item: Item, size: number): Promise<void> {
    if (!isInflight(item)) return await this.#planDrawnAgain(item, size);
    const packetId = packetIdOf(item);
    const isPubrel = textOf(item, 'k') === KIND.released;
    const queued = isPubrel ? pubrelOf(item) : await this.queued(item, packetId, true);
    if (queued === undefined) {
      this.steps.push({ does: 'forget', item });
      return;
    }
    if (!isPubrel) this.#window.takePlace();
    this.#add({ does: 'send-again', item, queued }, size);
  }

  async #planDrawnAgain(item: Item, size: number): Promise<void> {
    const entry = this.#window.drawn.elsewhere.find((each) => each.item === item)?.entry;
    const queued = entry && (await this.queued(item, entry.packetId, true));
    if (entry === undefined || queued === undefined) {
      this.steps.push({ does: 'drop', item, isNew: false });
      return;
    }
    this.#window.takePlace();
    this.#add({ does: 'list', item, entry, queued, isNew: false }, size);
  }

  /** False when the page or the window had no room for one of them. */
  async #planAll(first: QueryPage): Promise<boolean> {
    let { items, next } = first;
    while (await this.#planWaiting(items)) {
      if (next === undefined) return true;
      const limit = this.#page.messagesLeft + 1;
      ({ items, next } = await this.#waiting.first(this.#view.session, limit, next));
    }
    return false;
  }

  async #planWaiting(waiting: readonly Item[]): Promise<boolean> {
    for (const item of waiting) {
      if (!this.#isDrawn(item) && !(await this.#planOne(item))) return false;
      this.#drawnTo = textOf(item, 's');
    }
    return true;
  }

  #isDrawn(item: Item): boolean {
    const { elsewhere } = this.#window.drawn;
    return this.#window.isDrawnHere(item) || elsewhere.some(({ entry }) => isNamedBy(entry, item));
  }

  /** False when the page or the window has no room for it. */
  async #planOne(item: Item): Promise<boolean> {
    const inflight = this.#window.items.find((each) => isSameEntry(each, item));
    if (inflight !== undefined && this.#mayBeUnsent(inflight))
      return await this.#planRepetition(item, inflight);
    if (!this.#window.hasRoom) return false;
    if (inflight !== undefined || this.#isExpired(item)) {
      this.steps.push({ does: 'drop', item, isNew: true });
      return true;
    }
    const size = sizeOfEntry(item);
    if (!this.#page.hasRoom(size)) return false;
    const packetId = this.#window.freeIdForDrawn();
    if (packetId === undefined) return false;
    const queued = await this.queued(item, packetId, false);
    if (queued === undefined) {
      this.steps.push({ does: 'drop', item, isNew: true });
      return true;
    }
    if (isExactlyOnce(item)) this.#add({ does: 'move', item }, size);
    else {
      this.#window.use(packetId);
      this.#add({ does: 'list', item, entry: drawnEntryOf(item, packetId), queued, isNew: true }, size);
    }
    this.#window.takePlace();
    return true;
  }

  #add(step: Step, size: number): void {
    this.steps.push(step);
    this.#page.add(step, size);
  }

  /** Expired [MQTT-3.3.2-5]. */
  #isExpired(item: Item): boolean {
    const expiresAtMs = numberOf(item, 'xp');
    return expiresAtMs !== undefined && expiresAtMs <= this.#nowMs;
  }

  /**
   * A fan-out that put it inflight may have died before it was sent, and whoever repeated that has found the queue draining:
   *
   *     worker                             its successor, the same slice
   *     puts 3 inflight, under id 2
   *     (dies)
   *                                        1 and 2 find the window full: draining; 3 waits behind them
   *
   * Were 3 taken for sent, 4 would come first. Inflight elsewhere it is sent again from there.
   */
  #mayBeUnsent(inflight: Item): boolean {
    return this.#window.isSentHere(inflight) && textOf(inflight, 'k') === KIND.atLeastOnce;
  }

  /** It has its place in the window. False when the page has no room for it. */
  async #planRepetition(item: Item, inflight: Item): Promise<boolean> {
    const size = sizeOfEntry(item);
    if (!this.#page.hasRoom(size)) return false;
    const queued = await this.queued(item, packetIdOf(inflight), true);
    if (queued === undefined) this.steps.push({ does: 'drop', item, isNew: true });
    else this.#add({ does: 'repeat', item, inflight, queued }, size);
    return true;
  }
}

export function pubrelOf(inflight: Item): Queued {
  return { type: 'pubrel', packetId: packetIdOf(inflight) };
}
