import type { SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Entry } from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { type Item, textOf } from './values.ts';

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

/**
 * The topic's next message in this frame begins with what was matched, and must not overtake this one where it was left
 * waiting. On a connection that is over nothing goes at once:
 *
 *     frame, session live on A           client
 *                                        CONNECT(B): draining
 *     the window of A is full: 2 waits
 *                                        acknowledges on B what was in A's window
 *     (were 3 put inflight for A, as there is room …)
 *                                        … B's drain would send 3 again before it draws 2 [MQTT-4.6.0-6]
 */
export function noteStanding({ matched }: Offered, now: QueueView): void {
  if (matched.session.key !== now.session.key) return;
  matched.standing.phase = matched.connectionId === now.connectionId ? now.standing.phase : 'draining';
}

/** For which a copy is inflight. */
export function connectionOf({ offered, found }: WrittenInflight): string | undefined {
  return found === undefined ? offered.view.connectionId : textOf(found, 'c');
}

/** Sessions at the same time, the copies for one session one after the other. */
export async function inTurnForEachSession(
  open: readonly Offered[],
  write: (offered: Offered) => Promise<Written>,
): Promise<Written[]> {
  const bySession = new Map<string, Offered[]>();
  for (const offered of open) {
    const { key } = offered.view.session;
    const others = bySession.get(key);
    if (others === undefined) bySession.set(key, [offered]);
    else others.push(offered);
  }
  const written = await Promise.all(
    [...bySession.values()].map(async (copies) => {
      const each: Written[] = [];
      for (const offered of copies) each.push(await write(offered));
      return each;
    }),
  );
  return written.flat();
}
