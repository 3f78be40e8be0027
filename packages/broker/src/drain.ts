import type { Context } from './context.ts';
import { settleFailures } from './deliver.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Connection, Link } from './link.ts';
import { replay } from './replay.ts';
import { reply } from './reply.ts';
import type { Queued } from './session.ts';

/** Messages drawn from a queue at a time; between pages the link is asked how much it takes. */
const PAGE_LENGTH = 32;

/** Sends what waits for the session while its window and its link have room; then retained messages. */
export function* drain(context: Context, link: Link, connection: Connection): Flow<void> {
  const isQueueEmpty = yield* drainQueue(context, link, connection);
  setDraining(link, !isQueueEmpty);
  if (isQueueEmpty) yield* replay(context, link, connection);
}

/** True when nothing is left that the window would let go; false when the link has no room for it. */
function* drainQueue(context: Context, link: Link, connection: Connection): Flow<boolean> {
  const { queues, clock } = context.ports;
  for (let bytes = link.roomBytes(); bytes > 0; bytes = link.roomBytes()) {
    const limit = { messages: PAGE_LENGTH, bytes };
    const page = yield* waitFor(queues.next(connection.session, limit, clock.now()));
    if (page.length === 0) return true;
    for (const queued of page) yield* send(context, link, connection, queued);
  }
  return false;
}

function setDraining(link: Link, isDraining: boolean): void {
  const { state } = link;
  if (state.phase === 'connected' && state.isDraining !== isDraining) link.state = { ...state, isDraining };
}

function* send(context: Context, link: Link, connection: Connection, queued: Queued): Flow<void> {
  if (queued.type === 'pubrel') {
    const { packetId } = queued;
    return reply(link, connection, { type: 'pubrel', packetId, reasonCode: 0, properties: {} });
  }
  const { message, delivery } = queued;
  const failures = yield* waitFor(context.ports.connections.publish(message, [delivery]));
  if (failures !== undefined) yield* settleFailures(context, message, failures);
}
