import { Page, type PageLimit, type Queued } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Bodies } from './bodies.ts';
import type { Drawn } from './drawn.ts';
import type { DrawnEntry } from './drawn-list.ts';
import type { Inflight } from './inflight.ts';
import { PageBodies } from './page-bodies.ts';
import {
  compareEntries,
  isExactlyOnce,
  isInflight,
  isSameEntry,
  KIND,
  movedFields,
  packetIdOf,
  queuedOf,
  sizeOfEntry,
} from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import type { QueryPage } from './table.ts';
import { type Item, numberOf, textOf } from './values.ts';
import type { Waiting } from './waiting.ts';
import type { Window } from './window.ts';

export interface DrawParts {
  readonly waiting: Waiting;
  readonly inflight: Inflight;
  readonly drawn: Drawn;
  readonly bodies: Bodies;
}

/** What a page is made of, before anything is written. */
type Step =
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
  /** At QoS 2: gets its packet id. */
  | { readonly does: 'move'; readonly item: Item }
  /** Expired, or without a body: leaves what waits. `isNew`: nobody has counted it as drawn. */
  | { readonly does: 'drop'; readonly item: Item; readonly isNew: boolean };

/**
 * A page of what may be sent next, and whether anything is left. It is planned first, from what was read; then comes the
 * one write of the list, and when somebody else has written that meanwhile, nothing has been done; then what at QoS 2 is
 * a decision for each message.
 */
export class Draw {
  readonly #parts: DrawParts;
  readonly #view: QueueView;
  readonly #nowMs: number;
  readonly #page: Page<Step>;
  readonly #window: Window;
  readonly #bodies: PageBodies;
  readonly #steps: Step[] = [];
  readonly #entries: Queued[] = [];
  readonly #removed = { messages: 0, bytes: 0 };
  #isMessageLeft = false;
  #isPubrelLeft = false;
  #drawnTo: string | undefined;

  constructor(parts: DrawParts, view: QueueView, window: Window, limit: PageLimit, nowMs: number) {
    this.#parts = parts;
    this.#view = view;
    this.#window = window;
    this.#nowMs = nowMs;
    this.#page = new Page(limit);
    this.#bodies = new PageBodies(parts.bodies, view.session.tenant, limit);
  }

  get entries(): readonly Queued[] {
    return this.#entries;
  }

  /** The page holds messages, and not only PUBREL. */
  get hasMessages(): boolean {
    return this.#entries.some(({ type }) => type === 'publish');
  }

  get window(): Window {
    return this.#window;
  }

  /** What left the waiting ones. */
  get removed(): { readonly messages: number; readonly bytes: number } {
    return this.#removed;
  }

  /** Something waits, or has to be sent again, that did not fit the page or the window. */
  get isSomethingLeft(): boolean {
    return this.#isMessageLeft || this.#isPubrelLeft;
  }

  /** A PUBREL that is left holds no message back. */
  get isMessageLeft(): boolean {
    return this.#isMessageLeft;
  }

  /** The sort key up to which everything that was seen to wait has been drawn. Undefined: nothing was. */
  get drawnTo(): string | undefined {
    return this.#drawnTo;
  }

  /** The first page of what waits was read before the window. False when another drain was faster: nothing was done. */
  async run(first: QueryPage): Promise<boolean> {
    const again = this.#toSendAgain();
    const isNew = (item: Item) => !this.#window.isDrawnHere(item);
    await this.#bodies.readAhead([...again, ...first.items.filter(isNew)]);
    // While a message is left that is to be sent again, no shorter one that came after it may take its place.
    this.#isMessageLeft = !((await this.#planAgain(again)) && (await this.#planAll(first)));
    if (!(await this.#writeList())) return false;
    for (const step of this.#steps) await this.#do(step);
    return true;
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
    const queued = isPubrel ? pubrel(packetId) : await this.#queued(item, packetId, true);
    // Its body is gone: it has waited longer than anything is kept.
    if (queued === undefined) return await this.#parts.inflight.delete(this.#view.session, packetId);
    if (!isPubrel) this.#window.takePlace();
    this.#plan({ does: 'send-again', item, queued }, size);
  }

  async #planDrawnAgain(item: Item, size: number): Promise<void> {
    const entry = this.#window.drawn.elsewhere.find((each) => each.item === item)?.entry;
    const queued = entry && (await this.#queued(item, entry.packetId, true));
    if (entry === undefined || queued === undefined) {
      this.#steps.push({ does: 'drop', item, isNew: false });
      return;
    }
    this.#window.takePlace();
    this.#plan({ does: 'list', item, entry, queued, isNew: false }, size);
  }

  /** False when the page or the window had no room for one of them. */
  async #planAll(first: QueryPage): Promise<boolean> {
    let { items, next } = first;
    while (await this.#planWaiting(items)) {
      if (next === undefined) return true;
      const limit = this.#page.messagesLeft + 1;
      ({ items, next } = await this.#parts.waiting.first(this.#view.session, limit, next));
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
    const sort = textOf(item, 's');
    return (
      this.#window.isDrawnHere(item) || this.#window.drawn.elsewhere.some(({ entry }) => entry.sort === sort)
    );
  }

  /** False when the page or the window has no room for it. */
  async #planOne(item: Item): Promise<boolean> {
    if (!this.#window.hasRoom) return false;
    if (this.#isDone(item)) {
      this.#steps.push({ does: 'drop', item, isNew: true });
      return true;
    }
    const size = sizeOfEntry(item);
    if (!this.#page.hasRoom(size)) return false;
    if (isExactlyOnce(item)) this.#plan({ does: 'move', item }, size);
    else {
      const packetId = this.#window.freeIdForDrawn();
      if (packetId === undefined) return false;
      const queued = await this.#queued(item, packetId, false);
      if (queued === undefined) {
        this.#steps.push({ does: 'drop', item, isNew: true });
        return true;
      }
      this.#window.use(packetId);
      const entry = { packetId, sort: textOf(item, 's') ?? '' };
      this.#plan({ does: 'list', item, entry, queued, isNew: true }, size);
    }
    this.#window.takePlace();
    return true;
  }

  #plan(step: Step, size: number): void {
    this.#steps.push(step);
    this.#page.add(step, size);
  }

  /** Expired [MQTT-3.3.2-5]; or inflight already, by a drain of an earlier version that ended between its two writes. */
  #isDone(item: Item): boolean {
    const expiresAtMs = numberOf(item, 'xp');
    if (expiresAtMs !== undefined && expiresAtMs <= this.#nowMs) return true;
    return this.#window.items.some((inflight) => isSameEntry(inflight, item));
  }

  /** Before anything else is done: see `Drawn`. Entries of what has been acknowledged are left out. */
  async #writeList(): Promise<boolean> {
    const named = this.#steps.flatMap((step) => (step.does === 'list' ? [step] : []));
    if (named.length === 0) return true;
    const { list, here, elsewhere } = this.#window.drawn;
    const sent = [...here, ...named.map(({ entry }) => entry)];
    const planned = new Set(sent.map(({ sort }) => sort));
    const unsent = elsewhere.map(({ entry }) => entry).filter(({ sort }) => !planned.has(sort));
    const next = { connectionId: this.#view.connectionId, sent, unsent };
    return await this.#parts.drawn.write(this.#view.session, list, next);
  }

  async #do(step: Step): Promise<void> {
    switch (step.does) {
      case 'list':
        if (step.isNew) this.#countRemoved(step.item);
        this.#entries.push(step.queued);
        return;
      case 'send-again':
        if (await this.#parts.inflight.sendAgain(this.#view, step.item)) this.#entries.push(step.queued);
        return;
      case 'move':
        return await this.#move(step.item);
      case 'drop':
        if ((await this.#parts.waiting.take(step.item)) && step.isNew) this.#countRemoved(step.item);
    }
  }

  /** At QoS 2 it gets its packet id and leaves the waiting ones in one transaction: no crash leaves it in both places. */
  async #move(item: Item): Promise<void> {
    const packetId = await this.#putInflight(item);
    // Another drain has drawn it.
    if (packetId === 'gone') return;
    if (packetId === undefined) {
      this.#isMessageLeft = true;
      return;
    }
    this.#countRemoved(item);
    const queued = await this.#queued(item, packetId, false);
    // Without its body there is nothing to send.
    if (queued === undefined) await this.#parts.inflight.withdraw(this.#view, packetId, item);
    else this.#entries.push(queued);
  }

  /** Its packet id; undefined when there is none; 'gone' when it does not wait any more. Its place has been taken. */
  async #putInflight(item: Item): Promise<PacketId | 'gone' | undefined> {
    const along = this.#parts.waiting.leave(item);
    for (;;) {
      const packetId = this.#window.freeId(item);
      if (packetId === undefined) return undefined;
      const options = { hasMoreBehind: true, along };
      const drawn = await this.#parts.inflight.put(this.#view, packetId, movedFields(item), options);
      if (drawn.outcome === 'prevented') return 'gone';
      this.#window.use(packetId);
      if (drawn.outcome === 'drawn') return packetId;
    }
  }

  #countRemoved(item: Item): void {
    this.#removed.messages += 1;
    this.#removed.bytes += sizeOfEntry(item);
  }

  async #queued(item: Item, packetId: PacketId, dup: boolean): Promise<Queued | undefined> {
    return queuedOf(item, await this.#bodies.of(item), this.#view.session, packetId, dup);
  }
}

function pubrel(packetId: PacketId): Queued {
  return { type: 'pubrel', packetId };
}
