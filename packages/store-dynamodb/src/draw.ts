import type { PageLimit, Queued } from '@apus/broker';
import type { Bodies } from './bodies.ts';
import type { Inflight } from './inflight.ts';
import { Page } from './page.ts';
import { PageBodies } from './page-bodies.ts';
import {
  compareEntries,
  isExactlyOnce,
  isSameEntry,
  KIND,
  movedFields,
  packetIdOf,
  queuedOf,
  sizeOfEntry,
} from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import type { QueryPage } from './table.ts';
import type { Action } from './transaction.ts';
import { type Item, numberOf, textOf } from './values.ts';
import type { Waiting } from './waiting.ts';
import type { Window } from './window.ts';

export interface DrawParts {
  readonly waiting: Waiting;
  readonly inflight: Inflight;
  readonly bodies: Bodies;
}

/** A page of what may be sent next, and whether anything is left. */
export class Draw {
  readonly #parts: DrawParts;
  readonly #view: QueueView;
  readonly #nowMs: number;
  readonly #page: Page<Queued>;
  readonly #window: Window;
  readonly #bodies: PageBodies;
  readonly #removed = { messages: 0, bytes: 0 };
  #isMessageLeft = false;
  #isPubrelLeft = false;

  constructor(parts: DrawParts, view: QueueView, window: Window, limit: PageLimit, nowMs: number) {
    this.#parts = parts;
    this.#view = view;
    this.#window = window;
    this.#nowMs = nowMs;
    this.#page = new Page(limit);
    this.#bodies = new PageBodies(parts.bodies, view.session.tenant, limit);
  }

  get entries(): readonly Queued[] {
    return this.#page.entries;
  }

  /** The page holds messages, and not only PUBREL. */
  get hasMessages(): boolean {
    return this.#page.entries.some(({ type }) => type === 'publish');
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

  /** The first page of what waits was read before the window. */
  async run(first: QueryPage): Promise<void> {
    await this.#bodies.readAhead([...this.#toSendAgain(), ...first.items]);
    // While a message is left that is to be sent again, no shorter one that came after it may take its place.
    if (!(await this.#sendAgain())) {
      this.#isMessageLeft = true;
      return;
    }
    let { items, next } = first;
    while (await this.#drawWaiting(items)) {
      if (next === undefined) return;
      ({ items, next } = await this.#parts.waiting.first(
        this.#view.session,
        this.#page.messagesLeft + 1,
        next,
      ));
    }
    this.#isMessageLeft = true;
  }

  #toSendAgain(): Item[] {
    return this.#window.items.filter((item) => !this.#window.isSentHere(item)).sort(compareEntries);
  }

  /** False when a message is left that has to be sent again. */
  async #sendAgain(): Promise<boolean> {
    let areResent = true;
    for (const item of this.#toSendAgain()) {
      const isPubrel = textOf(item, 'k') === KIND.released;
      const size = isPubrel ? 0 : sizeOfEntry(item);
      // A full window holds back messages, never a PUBREL [MQTT-3.3.4-10].
      if ((isPubrel || this.#window.hasRoom) && this.#page.hasRoom(size))
        await this.#sendOneAgain(item, size);
      else {
        this.#isPubrelLeft ||= isPubrel;
        if (!isPubrel) areResent = false;
      }
    }
    return areResent;
  }

  async #sendOneAgain(item: Item, size: number): Promise<void> {
    const { inflight } = this.#parts;
    const packetId = packetIdOf(item);
    const isPubrel = textOf(item, 'k') === KIND.released;
    const queued = isPubrel ? pubrel(packetId) : await this.#queued(item, packetId, true);
    // Its body is gone: it has waited longer than anything is kept.
    if (queued === undefined) return await inflight.delete(this.#view.session, packetId);
    if (!(await inflight.sendAgain(this.#view, item))) return;
    if (queued.type === 'publish') this.#window.takePlace();
    this.#page.add(queued, size);
  }

  /** False when the page or the window had no room for one of them. */
  async #drawWaiting(waiting: readonly Item[]): Promise<boolean> {
    for (const item of waiting) {
      if (!this.#window.hasRoom) return false;
      if (this.#isDone(item)) {
        await this.#take(item);
        continue;
      }
      const size = sizeOfEntry(item);
      if (!this.#page.hasRoom(size)) return false;
      if (!(await this.#drawOne(item, size))) return false;
    }
    return true;
  }

  /** Expired [MQTT-3.3.2-5]; or inflight already, by a drain that ended between its two writes. */
  #isDone(item: Item): boolean {
    const expiresAtMs = numberOf(item, 'xp');
    if (expiresAtMs !== undefined && expiresAtMs <= this.#nowMs) return true;
    return this.#window.items.some((inflight) => isSameEntry(inflight, item));
  }

  /** False when the window is full. */
  async #drawOne(item: Item, size: number): Promise<boolean> {
    return isExactlyOnce(item) ? await this.#move(item, size) : await this.#putAndTake(item, size);
  }

  /** At QoS 2 it gets its packet id and leaves the waiting ones in one transaction: no crash leaves it in both places. */
  async #move(item: Item, size: number): Promise<boolean> {
    const along = this.#parts.waiting.leave(item);
    const packetId = await this.#putInflight(item, along);
    // Another drain has drawn it.
    if (packetId === 'gone') return true;
    if (packetId === undefined) return false;
    this.#countRemoved(item);
    await this.#send(item, packetId, size);
    return true;
  }

  /**
   *     drain of an old connection         drain of the new one
   *     puts the message inflight
   *                                        puts it inflight as well
   *     deletes it from the waiting: won
   *                                        deletes it: it is gone, so takes back what it has put
   */
  async #putAndTake(item: Item, size: number): Promise<boolean> {
    const packetId = await this.#putInflight(item);
    if (packetId === undefined || packetId === 'gone') return false;
    if (await this.#take(item)) await this.#send(item, packetId, size);
    else await this.#parts.inflight.withdraw(this.#view, packetId, item);
    return true;
  }

  async #send(item: Item, packetId: number, size: number): Promise<void> {
    const queued = await this.#queued(item, packetId, false);
    // Without its body there is nothing to send.
    if (queued === undefined) await this.#parts.inflight.withdraw(this.#view, packetId, item);
    else this.#page.add(queued, size);
  }

  /** Its packet id; undefined when the window is full; 'gone' when it does not wait any more. */
  async #putInflight(item: Item, along?: Action): Promise<number | 'gone' | undefined> {
    while (this.#window.hasRoom) {
      const packetId = this.#window.freeId(item);
      if (packetId === undefined) return undefined;
      const fields = movedFields(item);
      const drawn = await this.#parts.inflight.put(this.#view, packetId, fields, {
        hasMoreBehind: true,
        along,
      });
      if (drawn.outcome === 'prevented') return 'gone';
      this.#window.use(packetId);
      this.#window.takePlace();
      if (drawn.outcome === 'drawn') return packetId;
    }
    return undefined;
  }

  async #take(item: Item): Promise<boolean> {
    if (!(await this.#parts.waiting.take(item))) return false;
    this.#countRemoved(item);
    return true;
  }

  #countRemoved(item: Item): void {
    this.#removed.messages += 1;
    this.#removed.bytes += sizeOfEntry(item);
  }

  async #queued(item: Item, packetId: number, dup: boolean): Promise<Queued | undefined> {
    return queuedOf(item, await this.#bodies.of(item), this.#view.session, packetId, dup);
  }
}

function pubrel(packetId: number): Queued {
  return { type: 'pubrel', packetId };
}
