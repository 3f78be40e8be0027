import type {
  Acknowledged,
  CompletingPacket,
  Delivery,
  Message,
  PageLimit,
  Queued,
  QueuedPublish,
  QueueLimits,
  QueueStore,
  SessionRef,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { HeldMessage, type MemoryBudget } from './memory-budget.ts';
import type { MemorySession } from './memory-session.ts';
import type { RepeatableCopies } from './repeatable-copies.ts';
import { SessionQueue } from './session-queue.ts';
import type { MemorySessions } from './sessions.ts';

const NOTHING: readonly Queued[] = [];

/** Queues in memory: one for each session that was ever sent QoS 1 or 2. The queues share messages. */
export class MemoryQueues implements QueueStore {
  readonly #sessions: MemorySessions;
  readonly #repeatable: RepeatableCopies;
  readonly #budget: MemoryBudget;

  constructor(sessions: MemorySessions, repeatable: RepeatableCopies, budget: MemoryBudget) {
    this.#sessions = sessions;
    this.#repeatable = repeatable;
    this.#budget = budget;
  }

  offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): number {
    let dropped = 0;
    const held = new HeldMessage(this.#budget, message, deliveries[0]?.session.tenant ?? '');
    for (const delivery of this.#repeatable.firstOf(message, deliveries)) {
      const session = this.#sessions.live(delivery.session);
      if (session === undefined) continue;
      const queue = queueOf(session);
      const receiveMaximum = session.attachment?.receiveMaximum ?? 0;
      if (!held.fits(queue.holding, this.#budget.queuedBytesMax(session.state.identity))) {
        delivery.dropped = 1;
        dropped += 1;
        continue;
      }
      const entry: QueuedPublish = { type: 'publish', message, delivery };
      if (queue.canSend(receiveMaximum) && !hold?.has(delivery)) queue.send(entry, held);
      else {
        const gaveWay = queue.wait(entry, held, limits);
        if (gaveWay === 0) continue;
        delivery.dropped = gaveWay;
        dropped += gaveWay;
      }
    }
    return dropped;
  }

  next(ref: SessionRef, limit: PageLimit, nowMs: number): readonly Queued[] {
    const session = this.#sessions.live(ref);
    const queue = session?.state.queue;
    if (queue === undefined || session?.attachment === undefined) return NOTHING;
    const page = queue.dequeue(session.attachment.receiveMaximum, limit, nowMs);
    for (const [index, queued] of page.entries()) page[index] = addressed(queued, session);
    return page;
  }

  complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Acknowledged {
    return this.#queue(session)?.complete(packetId, answer) ?? 'unknown';
  }

  release(session: SessionRef, packetId: PacketId): Acknowledged {
    return this.#queue(session)?.release(packetId) ?? 'unknown';
  }

  unacknowledged(session: SessionRef): readonly QueuedPublish[] {
    return this.#queue(session)?.unacknowledged() ?? [];
  }

  clear(ref: SessionRef): void {
    const session = this.#sessions.live(ref);
    if (session === undefined) return;
    session.state.queue?.giveUp();
    session.state.queue = undefined;
    this.#sessions.cleared(session);
  }

  isIdle(session: SessionRef): boolean {
    return this.#queue(session)?.isIdle !== false;
  }

  length(session: SessionRef): number {
    return this.#queue(session)?.length ?? 0;
  }

  /** `messageBytes` of the waiting messages. */
  bytes(session: SessionRef): number {
    return this.#queue(session)?.bytes ?? 0;
  }

  /** Messages that were sent and are not complete. */
  inflight(session: SessionRef): number {
    return this.#queue(session)?.inflight ?? 0;
  }

  /** The message that its client has not acknowledged for longest. */
  oldest(session: SessionRef): Message | undefined {
    return this.#queue(session)?.oldest;
  }

  #queue(session: SessionRef): SessionQueue | undefined {
    return this.#sessions.live(session)?.state.queue;
  }
}

function queueOf({ state }: MemorySession): SessionQueue {
  state.queue ??= new SessionQueue(state.holding);
  return state.queue;
}

/** The message for the present connection: it may have been offered under a copy of an earlier ref. */
function addressed(queued: Queued, session: SessionRef): Queued {
  if (queued.type === 'pubrel' || queued.delivery.session === session) return queued;
  return { ...queued, delivery: { ...queued.delivery, session } };
}
