import type { Delivery, Message, MessageId } from '@apus/broker';

interface FanOut {
  /** Who has been offered the message. */
  readonly recipients: Set<string>;
  /** Where the writer stood when the receipt was written. */
  readonly position: number;
}

/**
 * QoS 2 messages whose fan-out may have to be repeated, from the first receipt until `settle`. A crash, or a client
 * that comes back while its first PUBLISH waits for the disk, leads to a second fan-out under the same message id:
 *
 *     PUBLISH 7 → begin: new, m        offer m to A, B → waits for the disk
 *     (new connection) PUBLISH 7 → begin: pending, m   offer m to A, B: they have it, wait with the first
 *
 * A recipient gets each message once. After a restart the recipients are those in whose queues the message is found:
 * none of them can have completed it, for what completes it was written after `settle` was.
 */
export class Unsettled {
  readonly #fanOuts = new Map<MessageId, FanOut>();

  begin(messageId: MessageId, position: number): void {
    this.#fanOuts.set(messageId, { recipients: new Set(), position });
  }

  /** Where the writer stood at `begin`; undefined for a message that is not followed. */
  positionOf(messageId: MessageId): number | undefined {
    return this.#fanOuts.get(messageId)?.position;
  }

  end(messageId: MessageId): void {
    this.#fanOuts.delete(messageId);
  }

  /** Those of the deliveries that have not been made before. */
  firstOf(message: Message, deliveries: readonly Delivery[]): readonly Delivery[] {
    const fanOut = this.#fanOuts.get(message.id);
    if (fanOut === undefined) return deliveries;
    const first = deliveries.filter((delivery) => !fanOut.recipients.has(recipientOf(delivery)));
    for (const delivery of first) fanOut.recipients.add(recipientOf(delivery));
    return first;
  }

  /** A message that was found in a queue. */
  restore(messageId: MessageId, delivery: Delivery): void {
    this.#fanOuts.get(messageId)?.recipients.add(recipientOf(delivery));
  }
}

/** A share group is one recipient, whichever member it chose. */
function recipientOf({ session, share }: Delivery): string {
  return share === undefined
    ? session.incarnation
    : `$share/${session.tenant}/${share.shareGroup}/${share.topicFilter}`;
}
