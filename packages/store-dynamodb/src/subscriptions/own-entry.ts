import { ConnectionLost, type SessionRef } from '@apus/broker';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { DECISIONS_MAX } from '../limits.ts';
import { recordOf } from '../sessions/session-item.ts';
import { ContentionError } from '../table/errors.ts';
import { sessionItemKey } from '../table/keys.ts';
import type { Table, WriteOptions, Written } from '../table/table.ts';
import { text, textOf } from '../table/values.ts';
import { CARRIES_ANY, carried, connectionFor } from './subscriber-entry.ts';

/** The condition of a write on `#entry`, the attribute that it replaces or removes. */
export interface EntryCondition extends Pick<WriteOptions, 'values'> {
  readonly condition: string;
}

export const ANY_ENTRY: EntryCondition = { condition: 'attribute_exists(#entry)' };

/** The entry is this text, or contains it. */
export function entryWith(part: AttributeValue): EntryCondition {
  return { condition: 'contains(#entry, :from)', values: { ':from': part } };
}

/** The entry carries this connection, or none. */
function entryOfNoOther(connection: AttributeValue): EntryCondition {
  return {
    condition: 'attribute_exists(#entry) AND (contains(#entry, :own) OR NOT contains(#entry, :any))',
    values: { ':own': connection, ':any': CARRIES_ANY },
  };
}

/**
 * Replaces or removes the entry of a session's subscription. The entry may carry another connection of the session, an
 * earlier or a later one:
 *
 *     handler of connection 1            handlers of connection 2
 *     SUBSCRIBE: begins, and is slow
 *                                        CONNECT, or a resume; SUBSCRIBE: the entry carries connection 2
 *     finds the entry of connection 2; reads that the session has that connection
 *     (were it to write its own …)
 *     … the client would be sent nothing more, and would not know
 *
 * So a handler that finds another connection reads the session's present one. If that is its own, it writes on
 * condition that the entry is still the same: a connection that comes after the read subscribes after this write, or
 * has changed the entry.
 *
 * @param name of the attribute
 * @param entry that is written. Undefined: it is removed
 * @throws {ConnectionLost} when the session has lost the connection
 */
export async function writeOwnEntry(
  table: Table,
  session: SessionRef,
  { name, entry }: { readonly name: string; readonly entry?: string },
  write: (expected: EntryCondition) => Promise<Written>,
): Promise<Written> {
  const { attachment } = session;
  // The session is over, or offline.
  if (attachment === undefined) return await write(ANY_ENTRY);
  let written = await write(entryOfNoOther(carried(connectionFor(attachment))));
  for (let decisions = 1; decisions < DECISIONS_MAX; decisions += 1) {
    const present = textOf(written.old, name);
    if (written.ok || present === undefined) return written;
    // Our own write, whose answer was lost.
    if (present === entry) return { ...written, ok: true };
    if (!(await isAttached(table, session))) throw new ConnectionLost();
    written = await write(entryWith(text(present)));
  }
  throw new ContentionError('the entry of a subscription', DECISIONS_MAX);
}

/** Whether the session's present connection is the one that `session` names. */
async function isAttached(
  table: Table,
  { tenant, clientId, incarnation, attachment }: SessionRef,
): Promise<boolean> {
  const item = await table.get(sessionItemKey(tenant, clientId));
  const { session } = (item && recordOf(item, tenant, clientId)) ?? {};
  if (session?.incarnation !== incarnation || session.attachment === undefined) return false;
  return attachment !== undefined && connectionFor(session.attachment) === connectionFor(attachment);
}
