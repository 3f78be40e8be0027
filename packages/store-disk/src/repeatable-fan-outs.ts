import type { Delivery, Message, MessageId } from '@apus/broker';

interface FanOut {
  /** Names of the copies that queues have taken. */
  readonly copies: Set<string>;
  /** The position of the writer when the receipt was written. */
  readonly position: number;
}

/** The name of a copy for a share group, whichever member gets it. */
const GROUPS_OWN = '';

/**
 * QoS 2 messages whose fan-out may have to be repeated, from the first receipt until `markDelivered`. A crash, or a
 * client that comes back while its first PUBLISH waits for the disk, leads to a second fan-out under the same message
 * id:
 *
 *     PUBLISH 7 → begin: new, m        offer m to A, B → waits for the disk
 *     (new connection) PUBLISH 7 → begin: pending, m   offer m to A, B: they have it, wait with the first
 *
 * Each copy (`Delivery.copy`) is taken once. After a restart the copies in queues count as taken: none of them can be
 * complete, since its completion would be written after `markDelivered`. Other copies of the message are no
 * repetitions, though they may be for the same session or share group and come while the fan-out may be repeated: a
 * retained message that answers a SUBSCRIBE, and a message that a share group's member leaves to another when its
 * session ends.
 */
export class RepeatableFanOuts {
  readonly #fanOuts = new Map<MessageId, FanOut>();

  begin(messageId: MessageId, position: number): void {
    this.#fanOuts.set(messageId, { copies: new Set(), position });
  }

  /** The position of the writer at `begin`. Undefined: the message is not followed. */
  positionOf(messageId: MessageId): number | undefined {
    return this.#fanOuts.get(messageId)?.position;
  }

  end(messageId: MessageId): void {
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
   * A message that was found in a queue. If one member of a share group has left it to another, the group had taken it
   * before.
   */
  restore(messageId: MessageId, delivery: Delivery): void {
    const copies = this.#fanOuts.get(messageId)?.copies;
    if (copies === undefined) return;
    add(copies, delivery);
    if (delivery.share !== undefined) add(copies, { ...delivery, copy: GROUPS_OWN });
  }
}

function isAmong(copies: ReadonlySet<string>, delivery: Delivery): boolean {
  const name = nameOf(delivery);
  return name !== undefined && copies.has(name);
}

function add(copies: Set<string>, delivery: Delivery): void {
  const name = nameOf(delivery);
  if (name !== undefined) copies.add(name);
}

/** Names a copy; a share group is one recipient. Undefined: nothing repeats the copy. */
function nameOf({ session, share, copy }: Delivery): string | undefined {
  if (copy === undefined) return undefined;
  const owner =
    share === undefined
      ? session.incarnation
      : `$share/${session.tenant}/${share.shareGroup}/${share.topicFilter}`;
  return `${owner}\0${copy}`;
}
