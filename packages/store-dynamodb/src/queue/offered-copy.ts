import type { Delivery, SessionRef } from '@apus/broker';
import type { Item } from '../table/values.ts';
import { type Entry as OfferedEntry, sizeOfEntry } from './queue-items.ts';
import type { Copy } from './types.ts';

/** One copy of a message on its way to a session. */
export interface OfferedCopy {
  readonly name: string;
  readonly offered: OfferedEntry;
  readonly fields: Item;
  /** By which a copy for a share group is known when it comes again. */
  readonly memory: Item | undefined;
  readonly isHeld: boolean;
  isInLog: boolean;
  isRemembered: boolean;
  /** This event has taken or appended it, or it needs nothing more. */
  isPlaced: boolean;
}

/** As the record's decision needs it. */
export function copyOf(
  { name, offered, fields, isInLog, isRemembered }: OfferedCopy,
  forgotten: ReadonlySet<string>,
): Copy {
  const body = 'blob' in offered.content ? 'inline' : 'reference';
  return {
    name,
    qos: offered.delivery.qos === 2 ? 2 : 1,
    body,
    bytes: sizeOfEntry(fields),
    isInLog,
    isRemembered: isRemembered || forgotten.has(name),
  };
}

/**
 * It was placed, and has not been sent. The memory names this member, so it goes on under another name: the name under
 * which the end of the session passes it on.
 */
export function passOnPlaced({ offered: { delivery } }: OfferedCopy, session: SessionRef): void {
  if (delivery.share !== undefined) Object.assign(delivery, { session, passOnAs: session.incarnation });
}

/** It has not been placed: it is the same copy for another member of the share group. */
export function passOn(delivery: Delivery): void {
  if (delivery.share !== undefined) delivery.passOnAs = delivery.copy ?? '';
}
