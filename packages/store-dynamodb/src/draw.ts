import type { PageLimit, Queued } from '@apus/broker';
import type { Found } from './batch.ts';
import type { Bodies } from './bodies.ts';
import type { Inflight, Window } from './inflight.ts';
import { Page } from './page.ts';
import {
  bodyRefOf,
  compareEntries,
  isSameEntry,
  movedFields,
  packetIdOf,
  queuedOf,
  sizeOfEntry,
} from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { type Item, numberOf, textOf } from './values.ts';
import type { Waiting } from './waiting.ts';

export interface DrawParts {
  readonly waiting: Waiting;
  readonly inflight: Inflight;
  readonly bodies: Bodies;
  readonly random: () => number;
}

/** A page of what may be sent next, and whether anything is left. */
export class Draw {
  readonly #parts: DrawParts;
  readonly #view: QueueView;
  readonly #nowMs: number;
  readonly #page: Page<Queued>;
  readonly #window: Window;
  readonly #removed = { messages: 0, bytes: 0 };
  #isSomethingLeft = false;

  constructor(parts: DrawParts, view: QueueView, window: Window, limit: PageLimit, nowMs: number) {
    this.#parts = parts;
    this.#view = view;
    this.#window = window;
    this.#nowMs = nowMs;
    this.#page = new Page(limit);
  }

  get entries(): readonly Queued[] {
    return this.#page.entries;
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
    return this.#isSomethingLeft;
  }

  /** `waiting` was read before the window. */
  async run(waiting: readonly Item[], hasMoreWaiting: boolean): Promise<void> {
    const bodies = await this.#loadBodies([...this.#window.items, ...waiting]);
    const areResent = await this.#sendAgain(bodies);
    // While a message is left that is to be sent again, no shorter one that came after it may take its place.
    if (areResent) await this.#drawWaiting(waiting, bodies);
    else if (waiting.length > 0) this.#isSomethingLeft = true;
    if (hasMoreWaiting) this.#isSomethingLeft = true;
  }

  async #loadBodies(items: readonly Item[]): Promise<Found> {
    const refs = items.map(bodyRefOf).filter((ref) => ref !== undefined);
    return await this.#parts.bodies.load(this.#view.session.tenant, refs);
  }

  /** False when a message is left that has to be sent again. */
  async #sendAgain(bodies: Found): Promise<boolean> {
    const inOrder = this.#window.items.filter((item) => !this.#window.isSentHere(item)).sort(compareEntries);
    let areResent = true;
    for (const item of inOrder) {
      const isPubrel = textOf(item, 'k') === 'r';
      const size = isPubrel ? 0 : sizeOfEntry(item);
      // A full window holds back messages, never a PUBREL [MQTT-3.3.4-10].
      if ((isPubrel || this.#window.hasRoom) && this.#page.hasRoom(size))
        await this.#sendOneAgain(item, size, bodies);
      else {
        this.#isSomethingLeft = true;
        if (!isPubrel) areResent = false;
      }
    }
    return areResent;
  }

  async #sendOneAgain(item: Item, size: number, bodies: Found): Promise<void> {
    const { inflight } = this.#parts;
    const packetId = packetIdOf(item);
    const queued = textOf(item, 'k') === 'r' ? pubrel(packetId) : this.#queued(item, packetId, true, bodies);
    // Its body is gone: it has waited longer than anything is kept.
    if (queued === undefined) return await inflight.delete(this.#view.session, packetId);
    if (!(await inflight.sendAgain(this.#view, item))) return;
    if (queued.type === 'publish') this.#window.takePlace();
    this.#page.add(queued, size);
  }

  async #drawWaiting(waiting: readonly Item[], bodies: Found): Promise<void> {
    for (const item of waiting) {
      if (!this.#window.hasRoom) {
        this.#isSomethingLeft = true;
        return;
      }
      if (this.#isDone(item)) {
        await this.#take(item);
        continue;
      }
      const size = sizeOfEntry(item);
      if (!this.#page.hasRoom(size)) {
        this.#isSomethingLeft = true;
        return;
      }
      await this.#drawOne(item, size, bodies);
    }
  }

  /** Expired [MQTT-3.3.2-5]; or inflight already, by a drain that ended between its two writes. */
  #isDone(item: Item): boolean {
    const expiresAtMs = numberOf(item, 'xp');
    if (expiresAtMs !== undefined && expiresAtMs <= this.#nowMs) return true;
    return this.#window.items.some((inflight) => isSameEntry(inflight, item));
  }

  /**
   *     drain of an old connection         drain of the new one
   *     puts the message inflight
   *                                        puts it inflight as well
   *     deletes it from the waiting: won
   *                                        deletes it: it is gone, so takes back what it has put
   */
  async #drawOne(item: Item, size: number, bodies: Found): Promise<void> {
    const { inflight } = this.#parts;
    const packetId = await this.#putInflight(item);
    if (packetId === undefined) {
      this.#isSomethingLeft = true;
      return;
    }
    if (!(await this.#take(item))) {
      await inflight.withdraw(this.#view, packetId, item);
      return;
    }
    const queued = this.#queued(item, packetId, false, bodies);
    if (queued === undefined) return await inflight.delete(this.#view.session, packetId);
    this.#page.add(queued, size);
  }

  async #putInflight(item: Item): Promise<number | undefined> {
    while (this.#window.hasRoom) {
      const packetId = this.#window.freeId(this.#parts.random());
      if (packetId === undefined) return undefined;
      const there = await this.#parts.inflight.put(this.#view, packetId, movedFields(item), true);
      this.#window.use(packetId);
      this.#window.takePlace();
      if (there === undefined) return packetId;
    }
    return undefined;
  }

  async #take(item: Item): Promise<boolean> {
    if (!(await this.#parts.waiting.take(item))) return false;
    this.#removed.messages += 1;
    this.#removed.bytes += sizeOfEntry(item);
    return true;
  }

  #queued(item: Item, packetId: number, dup: boolean, bodies: Found): Queued | undefined {
    const ref = bodyRefOf(item);
    const { session } = this.#view;
    const body = ref && this.#parts.bodies.join(session.tenant, ref, bodies);
    return queuedOf(item, body, session, packetId, dup);
  }
}

function pubrel(packetId: number): Queued {
  return { type: 'pubrel', packetId };
}
