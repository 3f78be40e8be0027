import type { SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Entry } from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import type { Item } from './values.ts';

/** One copy of the message on its way. */
export interface Offered {
  readonly entry: Entry;
  readonly fields: Item;
  /** What makes it known when it is offered again. Undefined: nothing does. */
  readonly memory: Item | undefined;
  readonly isHeld: boolean;
  /** As it was matched: the next message of the topic in this frame begins with the same. */
  readonly matched: QueueView;
  view: QueueView;
  /** It has its place among the waiting: from there it is moved, and nowhere is it put again. */
  isWaiting: boolean;
  /** It had an id of the window, and no room there. */
  readonly hasGivenWay: boolean;
}

/** Inflight under an id; `found` where it was so before. */
export interface WrittenInflight {
  readonly where: 'inflight';
  readonly offered: Offered;
  readonly packetId: PacketId;
  readonly found?: Item;
}

/** Among the waiting, or nowhere: dropped, or done. */
export interface WrittenElsewhere {
  readonly where: 'waiting' | 'nowhere';
  readonly offered: Offered;
  /** It was so before. */
  readonly isFound?: boolean;
}

export type Written = WrittenInflight | WrittenElsewhere;

/** The copy may be sent: to the session as it is now, with DUP where somebody may have sent it before. */
export function mayGo({ entry, view }: Offered, packetId: PacketId, dup: boolean): void {
  const { delivery } = entry;
  delivery.packetId = packetId;
  if (dup) delivery.dup = true;
  const isSameSession = delivery.session.incarnation === view.session.incarnation;
  if (isSameSession && delivery.session.attachment?.connectionId === view.connectionId) return;
  // The session has another connection than its ref says, or another member of the share group has the copy.
  const session: SessionRef = view.session;
  Object.assign(delivery, { session });
}
