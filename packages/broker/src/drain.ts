import type { Context } from './context.ts';
import { settleFailures } from './deliver.ts';
import { type Flow, waitFor } from './flow.ts';
import type { Connection, Link } from './link.ts';
import { replay } from './replay.ts';
import { reply } from './reply.ts';
import type { Queued } from './session.ts';

/** Messages drawn from a queue at a time; between pages the connection is asked whether it takes more. */
const PAGE_LENGTH = 32;

/** Sends what waits for the session while its window and its connection have room; then retained messages. */
export function* drain(context: Context, link: Link, connection: Connection): Flow<void> {
  const { queues, connections, clock } = context.ports;
  while (connections.isReady(link.id)) {
    const page = yield* waitFor(queues.next(connection.session, PAGE_LENGTH, clock.now()));
    let failed = false;
    for (const queued of page) failed = !(yield* send(context, link, connection, queued)) || failed;
    // A failed delivery may have left its place in the window to the next.
    if (page.length < PAGE_LENGTH && !failed) break;
  }
  yield* replay(context, link, connection);
}

function* send(context: Context, link: Link, connection: Connection, queued: Queued): Flow<boolean> {
  if (queued.type === 'pubrel') {
    const { packetId } = queued;
    reply(link, connection, { type: 'pubrel', packetId, reasonCode: 0, properties: {} });
    return true;
  }
  const { message, delivery } = queued;
  const failures = yield* waitFor(context.ports.connections.publish(message, [delivery]));
  if (failures === undefined) return true;
  yield* settleFailures(context, message, failures);
  return false;
}
