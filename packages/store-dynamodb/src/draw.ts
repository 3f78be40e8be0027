import { KEPT_PACKET_ID_MAX, type PageLimit, type Queued } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Bodies } from './bodies.ts';
import { DrawPlan, pubrelOf, type Step } from './draw-plan.ts';
import type { Drawn } from './drawn.ts';
import { ContentionError } from './errors.ts';
import type { Inflight } from './inflight.ts';
import { movedFields, sizeOfEntry, waitingSortOf } from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import type { QueryPage } from './table.ts';
import type { Item } from './values.ts';
import type { Waiting } from './waiting.ts';
import type { Window } from './window.ts';

export interface DrawParts {
  readonly waiting: Waiting;
  readonly inflight: Inflight;
  readonly drawn: Drawn;
  readonly bodies: Bodies;
}

/**
 * A page of what may be sent next, and whether anything is left. It is planned first, from what was read; then comes the
 * one write of the list, and when somebody else has written that meanwhile, nothing has been done; then what at QoS 2 is
 * a decision for each message.
 */
export class Draw {
  readonly #parts: DrawParts;
  readonly #view: QueueView;
  readonly #window: Window;
  readonly #isPushed: boolean;
  readonly #plan: DrawPlan;
  readonly #entries: Queued[] = [];
  readonly #removed = { messages: 0, bytes: 0 };

  /** `isPushed`: the page leaves in pushes, and not with a reply. */
  constructor(
    parts: DrawParts,
    view: QueueView,
    window: Window,
    isPushed: boolean,
    limit: PageLimit,
    nowMs: number,
  ) {
    this.#parts = parts;
    this.#view = view;
    this.#window = window;
    this.#isPushed = isPushed;
    this.#plan = new DrawPlan(parts, view, window, limit, nowMs);
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
    return this.#plan.isMessageLeft || this.#plan.isPubrelLeft;
  }

  /**
   * All that was planned has been answered, or taken by others, since it was read: what is left may go in its place, and no
   * acknowledgement would look for it.
   */
  get isInVain(): boolean {
    return this.#plan.hasSomethingToSend && this.#entries.length === 0;
  }

  /**
   * The window is full of what publishers have put there, and no acknowledgement of that would look for what waits: they
   * took the session for live.
   */
  get isStuck(): boolean {
    const { hasRoom, isLookedAfter } = this.#window;
    return this.#entries.length === 0 && this.#plan.isMessageLeft && !hasRoom && !isLookedAfter;
  }

  /** A PUBREL that is left holds no message back. */
  get isMessageLeft(): boolean {
    return this.#plan.isMessageLeft;
  }

  /** The sort key up to which everything that was seen to wait has been drawn. Undefined: nothing was. */
  get drawnTo(): string | undefined {
    return this.#plan.drawnTo;
  }

  /** The first page of what waits was read before the window. False when another drain was faster: nothing was done. */
  async run(first: QueryPage): Promise<boolean> {
    await this.#plan.make(first);
    if (!(await this.#writeList())) return false;
    await this.#do();
    return true;
  }

  /**
   * Before anything else is done: see `Drawn`. Entries of what has been acknowledged are left out. A page without a
   * message that is new, or sent again, needs none.
   */
  async #writeList(): Promise<boolean> {
    const { steps } = this.#plan;
    const listed = steps.flatMap((step) => (step.does === 'list' ? [step.entry] : []));
    const moved = steps.filter(isMove).map(({ item }) => waitingSortOf(item));
    if (listed.length + moved.length === 0) return true;
    const { list, here, elsewhere, moving } = this.#window.drawn;
    const sent = [...here, ...listed];
    const planned = new Set(sent.map(({ sort }) => sort));
    const unsent = elsewhere.map(({ entry }) => entry).filter(({ sort }) => !planned.has(sort));
    return await this.#parts.drawn.write(this.#view.session, list, {
      connectionId: this.#view.connectionId,
      sent,
      unsent,
      moving: [...moving, ...moved],
      isPushed: this.#isPushed,
    });
  }

  async #do(): Promise<void> {
    const { inflight, waiting } = this.#parts;
    for (const step of this.#plan.steps) {
      switch (step.does) {
        case 'list':
          if (step.isNew) this.#countRemoved(step.item);
          this.#entries.push(step.queued);
          break;
        case 'send-again':
          await this.#sendAgain(step);
          break;
        case 'repeat':
          await this.#repeat(step);
          break;
        case 'move':
          await this.#move(step.item);
          break;
        case 'drop':
          if ((await waiting.take(step.item)) && step.isNew) this.#countRemoved(step.item);
          break;
        case 'forget':
          await inflight.forget(this.#view.session, step.item);
      }
    }
  }

  /**
   * What it is by now:
   *
   *     drain of the new connection        late frame of the old one
   *     reads: 7 is a message
   *                                        PUBREC 7: its PUBREL leaves for the old connection, and is lost
   *     sends 7 again: it is no message any more. Sends its PUBREL: nobody else would, on this connection
   */
  async #sendAgain({ item, queued }: SendAgain): Promise<void> {
    const { inflight } = this.#parts;
    const { isSent, released } = await inflight.sendAgain(this.#view, item);
    if (isSent) this.#entries.push(queued);
    else if (released !== undefined && (await inflight.sendAgain(this.#view, released)).isSent)
      this.#entries.push(pubrelOf(released));
  }

  /** Marked, as the acknowledgement of anything on a page looks for the next. */
  async #repeat({ item, inflight, queued }: Repeat): Promise<void> {
    const isInflight = await this.#parts.inflight.markAgain(this.#view, inflight);
    if (!(await this.#parts.waiting.take(item))) return;
    this.#countRemoved(item);
    if (isInflight) this.#entries.push(queued);
  }

  /** At QoS 2 it gets its packet id and leaves the waiting ones in one transaction: no crash leaves it in both places. */
  async #move(item: Item): Promise<void> {
    const packetId = await this.#putInflight(item);
    // It has given way to others.
    if (packetId === 'gone') return;
    this.#countRemoved(item);
    const queued = await this.#plan.queued(item, packetId, false);
    // Its body has gone since the page was planned: there is nothing to send.
    if (queued === undefined) await this.#parts.inflight.withdraw(this.#view, packetId, item);
    else this.#entries.push(queued);
  }

  /** Its packet id; 'gone' when it does not wait any more. Its place has been taken. */
  async #putInflight(item: Item): Promise<PacketId | 'gone'> {
    const along = this.#parts.waiting.leave(item);
    for (;;) {
      const packetId = this.#window.freeId(item);
      // Publishers have drawn all ids since the page was planned. The list names it, so this connection goes no further.
      if (packetId === undefined) throw new ContentionError('a packet identifier', KEPT_PACKET_ID_MAX);
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
}

type SendAgain = Step & { readonly does: 'send-again' };
type Repeat = Step & { readonly does: 'repeat' };

/** A message that has an item of its own when it has been sent: a decision for each. */
function isMove(step: Step): step is Step & { readonly does: 'move' | 'send-again' } {
  return step.does === 'move' || (step.does === 'send-again' && step.queued.type === 'publish');
}
