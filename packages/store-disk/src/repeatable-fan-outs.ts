import type { Delivery, Message, MessageId, QueuedPublish } from '@apus/broker';
import { completedCopyCodec, type StoredCompletedCopy } from './codec.ts';
import { completedCopyKey } from './keys.ts';
import type { Writer } from './writer.ts';

interface FanOut {
  /** Names of the copies that queues have taken. */
  readonly copies: Set<string>;
  /** The position of the writer when the receipt was written. */
  readonly position: number;
  /** Keys of the records that name completed copies. */
  readonly completed: string[];
}

/** The name of a copy for a share group, whichever member gets it. */
const GROUPS_OWN = '';

/** The part of a delivery that names a copy. */
type Copy = Pick<Delivery, 'share' | 'copy'> & {
  readonly session: Pick<Delivery['session'], 'tenant' | 'incarnation'>;
};

/**
 * QoS 2 messages whose fan-out may have to be repeated, from the first receipt until `markDelivered`. A crash, or a
 * client that comes back while its first PUBLISH waits for the disk, leads to a second fan-out under the same message
 * id:
 *
 *     PUBLISH 7 → begin: new, m        offer m to A, B → waits for the disk
 *     (new connection) PUBLISH 7 → begin: pending, m   offer m to A, B: they have it, wait with the first
 *
 * Each copy (`Delivery.copy`) is taken once. After a restart the copies in queues count as taken. A copy that leaves
 * its queue before `markDelivered` has a record of its own on the disk, for the restart after next:
 *
 *     begin: new, m   offer m to A   crash
 *     restart         A completes m  crash
 *     restart         PUBLISH 7 → begin: pending, m   offer m to A: A has had it, and the queue does not tell
 *
 * Other copies of the message are no repetitions, though they may be for the same session or share group and come
 * while the fan-out may be repeated: a retained message that answers a SUBSCRIBE, and a message that a share group's
 * member leaves to another when its session ends.
 */
export class RepeatableFanOuts {
  readonly #writer: Writer;
  readonly #fanOuts = new Map<MessageId, FanOut>();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  begin(messageId: MessageId): void {
    this.#fanOuts.set(messageId, { copies: new Set(), position: this.#writer.position, completed: [] });
  }

  /** The position of the writer at `begin`. Undefined: the message is not followed. */
  positionOf(messageId: MessageId): number | undefined {
    return this.#fanOuts.get(messageId)?.position;
  }

  /** The caller has written before that the message is delivered. */
  end(messageId: MessageId): void {
    for (const key of this.#fanOuts.get(messageId)?.completed ?? []) this.#writer.remove(key);
    this.#fanOuts.delete(messageId);
  }

  /** The deliveries whose copies no queue has taken yet. */
  firstOf(message: Message, deliveries: readonly Delivery[]): readonly Delivery[] {
    const copies = this.#fanOuts.get(message.id)?.copies;
    if (copies === undefined) return deliveries;
    const first = deliveries.filter((delivery) => !isAmong(copies, delivery));
    for (const delivery of first) add(copies, delivery);
    return first;
  }

  /**
   * A copy leaves its place in the queue of a session. The caller removes its record after this, so that a crash leaves
   * one of the two.
   */
  completed({ message: { id }, delivery }: QueuedPublish, sessionNumber: number, number: number): void {
    const fanOut = this.#fanOuts.get(id);
    if (fanOut === undefined) return;
    const { session, share, copy } = delivery;
    if (copy === undefined) return;
    const key = completedCopyKey(sessionNumber, number);
    fanOut.completed.push(key);
    this.#writer.put(key, completedCopyCodec.encode({ messageId: id, tenant: session.tenant, share, copy }));
  }

  /** A message that was found in a queue. */
  restore(messageId: MessageId, copy: Copy): void {
    const copies = this.#fanOuts.get(messageId)?.copies;
    if (copies !== undefined) addFound(copies, copy);
  }

  /**
   * A record of a completed copy. False: it is of no use any more.
   *
   * @param incarnation of the session that has completed it; undefined: that session has ended
   */
  restoreCompleted(key: string, stored: StoredCompletedCopy, incarnation: string | undefined): boolean {
    const { messageId, tenant, share, copy } = stored;
    const fanOut = this.#fanOuts.get(messageId);
    if (fanOut === undefined || (share === undefined && incarnation === undefined)) return false;
    addFound(fanOut.copies, { session: { tenant, incarnation: incarnation ?? '' }, share, copy });
    fanOut.completed.push(key);
    return true;
  }
}

function isAmong(copies: ReadonlySet<string>, delivery: Copy): boolean {
  const name = nameOf(delivery);
  return name !== undefined && copies.has(name);
}

function add(copies: Set<string>, copy: Copy): void {
  const name = nameOf(copy);
  if (name !== undefined) copies.add(name);
}

/** If one member of a share group has left the message to another, the group had taken it before. */
function addFound(copies: Set<string>, copy: Copy): void {
  add(copies, copy);
  if (copy.share !== undefined) add(copies, { ...copy, copy: GROUPS_OWN });
}

/** Names a copy; a share group is one recipient. Undefined: nothing repeats the copy. */
function nameOf({ session, share, copy }: Copy): string | undefined {
  if (copy === undefined) return undefined;
  const owner =
    share === undefined
      ? session.incarnation
      : `$share/${session.tenant}/${share.shareGroup}/${share.topicFilter}`;
  return `${owner}\0${copy}`;
}
