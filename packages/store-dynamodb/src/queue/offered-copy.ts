import type { Delivery, SessionRef } from '@apus/broker';
import type { Item } from '../table/values.ts';
import { bytesOfCopy, type StorableCopy } from './queue-items.ts';
import type { Copy } from './types.ts';

/** One copy of a message on its way to a session. */
export interface OfferedCopy {
  readonly name: string;
  readonly offered: StorableCopy;
  readonly fields: Item;
  /** The deduplication record of a copy for a share group. Undefined: it needs none. */
  readonly deduplication: Item | undefined;
  readonly isHeld: boolean;
  isInLog: boolean;
  wasPlaced: boolean;
  /** This event has placed or appended it, or another member or an earlier run has it. */
  isDone: boolean;
}

/** The copy as `decide` needs it. */
export function copyOf(
  { name, offered, fields, isInLog, wasPlaced }: OfferedCopy,
  forgotten: ReadonlySet<string>,
): Copy {
  const body = 'blob' in offered.content ? 'inline' : 'reference';
  return {
    name,
    qos: offered.delivery.qos === 2 ? 2 : 1,
    body,
    bytes: bytesOfCopy(fields),
    isInLog,
    wasPlaced: wasPlaced || forgotten.has(name),
  };
}

/**
 * The copy was placed, and its session ended before it was sent. Its deduplication record names this member, so another
 * member gets it under another name: the one under which the end of the session passes messages on.
 */
export function passOnPlaced({ offered: { delivery } }: OfferedCopy, session: SessionRef): void {
  if (delivery.share !== undefined) Object.assign(delivery, { session, passOnAs: session.incarnation });
}

/** The copy was not placed: another member of the share group gets it under the same name. */
export function passOn(delivery: Delivery): void {
  if (delivery.share !== undefined) delivery.passOnAs = delivery.copy ?? '';
}
