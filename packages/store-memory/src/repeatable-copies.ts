import type { Delivery, Message, MessageId } from '@apus/broker';

/**
 * Copies of QoS 2 messages whose fan-out may be repeated: from the first receipt until `markDelivered`. In between the
 * door may wait for a network. If that fails, the publisher sends again, and the message is handed on again under the
 * same id. Each copy is taken once.
 */
export class RepeatableCopies {
  readonly #taken = new Map<MessageId, Set<string>>();

  begin(messageId: MessageId): void {
    this.#taken.set(messageId, new Set());
  }

  end(messageId: MessageId): void {
    this.#taken.delete(messageId);
  }

  /** The deliveries whose copies no queue has taken yet. */
  firstOf(message: Message, deliveries: readonly Delivery[]): readonly Delivery[] {
    const taken = this.#taken.get(message.id);
    if (taken === undefined) return deliveries;
    return deliveries.filter((delivery) => {
      const name = nameOf(delivery);
      if (name === undefined) return true;
      if (taken.has(name)) return false;
      taken.add(name);
      return true;
    });
  }
}

/** Names a copy; a share group is one recipient. Undefined: nothing repeats the copy, or it may come twice. */
function nameOf({ session, share, qos, copy }: Delivery): string | undefined {
  if (qos !== 2 || copy === undefined) return undefined;
  const owner = share === undefined ? session.incarnation : `${share.shareGroup}\0${share.topicFilter}`;
  return `${owner}\0${copy}`;
}
