import type { ManagementCall } from '../faults.ts';
import type { Connection } from '../gateway/connection.ts';
import { closeConnection, cutConnection } from '../gateway/connection-life.ts';
import { type Gateway, schedule } from '../gateway/gateway.ts';
import { isGatewayId } from '../ids.ts';
import type { Answer } from './answer.ts';
import { gone, internal, ManagementError, throttled, tooLarge } from './error.ts';

/** How long an overtaken post waits for the one that overtakes it. */
const OVERTAKEN_MS_MAX = 100;

/** Performs a call. A POST without a body was larger than a message may be. */
export async function act(gateway: Gateway, call: ManagementCall): Promise<Answer> {
  const { connectionId, method } = call;
  if (!isGatewayId(connectionId)) {
    return new ManagementError(400, 'BadRequestException', `Invalid connectionId: ${connectionId}`);
  }
  if (method === 'POST' && call.body === undefined) return tooLarge;
  // Concurrent calls have no order; a call that was answered before another was made precedes it.
  await new Promise<void>((resolve) => schedule(gateway, 0, resolve));
  const connection = gateway.connections.get(connectionId);
  // A connection that `$connect` has not accepted yet counts as gone.
  if (connection === undefined || !connection.reachable) return gone;
  const { dice, settings } = gateway;
  if (dice.strikes('callFails', settings.faults.callFails, call)) return internal;
  switch (method) {
    case 'POST':
      return post(gateway, call, connection);
    case 'GET':
      return { status: 200, json: describe(connection) };
    case 'DELETE':
      closeConnection(gateway, connection, 1000, '');
      return { status: 204 };
  }
}

function post(gateway: Gateway, call: ManagementCall, connection: Connection): Answer {
  const { dice, settings } = gateway;
  const { faults, limits } = settings;
  if (dice.strikes('postGone', faults.postGone, call)) return gone;
  if (dice.strikes('postThrottled', faults.postThrottled, call)) return throttled;
  if (dice.strikes('postFails', faults.postFails, call)) return internal;
  if (dice.strikes('cut', faults.cut, { connectionId: connection.id, at: 'post' })) {
    cutConnection(connection);
    return gone;
  }
  // A slow consumer gets the same status as the throttle: callers cannot tell them apart.
  if (connection.bufferedBytes > limits.clientBufferBytesMax) return throttled;
  const text = call.body ?? '';
  if (dice.strikes('postOvertaken', faults.postOvertaken, call)) {
    sendOvertaken(gateway, connection, text);
    return { status: 200 };
  }
  send(gateway, connection, text);
  connection.overtaken();
  return dice.strikes('postFailsAfterwards', faults.postFailsAfterwards, call) ? internal : { status: 200 };
}

/** Sent after the next post to this connection, or a little later if none comes. */
function sendOvertaken(gateway: Gateway, connection: Connection, text: string): void {
  const end = gateway.activity.begin();
  const before = connection.overtaken;
  let sent = false;
  const depart = (): void => {
    if (sent) return;
    sent = true;
    before();
    if (connection.reachable) send(gateway, connection, text);
    end();
  };
  connection.overtaken = depart;
  gateway.settings.clock.setTimer(OVERTAKEN_MS_MAX, depart);
}

function send(gateway: Gateway, connection: Connection, text: string): void {
  gateway.counters.message('posts', Buffer.byteLength(text));
  connection.lastActiveAtMs = gateway.settings.clock.now();
  connection.send(text, gateway.settings.splitLargeMessages);
}

function describe(connection: Connection): Record<string, unknown> {
  return {
    connectedAt: new Date(connection.connectedAtMs).toISOString(),
    identity: connection.identity,
    lastActiveAt: new Date(connection.lastActiveAtMs).toISOString(),
  };
}
