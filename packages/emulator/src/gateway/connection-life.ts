import type { Connection } from './connection.ts';
import { disconnectEvent } from './event-builder.ts';
import { type Gateway, schedule } from './gateway.ts';

/** The end of a connection as `$disconnect` reports it, if the client gave no reason. */
const REASONS: Readonly<Record<number, string>> = {
  1001: 'Going away',
  1005: 'Client-side close frame status not set',
};

/** Ten idle minutes and two hours, whichever comes first. */
export function startLife(gateway: Gateway, connection: Connection): void {
  const { clock, limits } = gateway.settings;
  const expire = (): void => closeConnection(gateway, connection, 1001, 'Going away');
  const ageMs = clock.now() - connection.connectedAtMs;
  const cancelDuration = clock.setTimer(limits.connectionDurationMs - ageMs, () => {
    gateway.counters.event('connectionDurationOver');
    expire();
  });
  let cancelIdle = (): void => {};
  // Messages do not reset the timer: when it fires, it checks how long ago the last one was.
  const watchIdle = (): void => {
    const leftMs = connection.lastActiveAtMs + limits.idleTimeoutMs - clock.now();
    if (leftMs <= 0) expire();
    else cancelIdle = clock.setTimer(leftMs, watchIdle);
  };
  watchIdle();
  connection.cancelTimers = () => {
    cancelDuration();
    cancelIdle();
  };
}

/** The gateway closes the connection. It is gone at once, however long the client takes to answer. */
export function closeConnection(
  gateway: Gateway,
  connection: Connection,
  code: number,
  reason: string,
): void {
  if (connection.state === 'closed') return;
  connection.close(code, reason);
  endConnection(gateway, connection, code, reason);
}

/** The TCP connection breaks; the gateway notices at once and reports 1006. */
export function cutConnection(connection: Connection): void {
  connection.terminate();
}

/** A connection has ended, by either side: its `$disconnect` follows, late, or never. */
export function endConnection(gateway: Gateway, connection: Connection, code: number, reason: string): void {
  if (connection.state === 'closed') return;
  connection.state = 'closed';
  connection.cancelTimers();
  gateway.connections.delete(connection.id);
  gateway.counters.connectionClosed(connection.id);
  if (!gateway.stopped) scheduleDisconnect(gateway, connection, code, reason);
}

function scheduleDisconnect(gateway: Gateway, connection: Connection, code: number, reason: string): void {
  const { dice, settings } = gateway;
  const { faults } = settings;
  const event = disconnectEvent(gateway, connection, { code, reason: reason || (REASONS[code] ?? '') });
  if (dice.strikes('dropDisconnect', faults.dropDisconnect, event)) return;
  const delayMs =
    dice.delayMs(faults.disconnectDelayMs, event) + dice.delayMs(faults.invocationDelayMs, event);
  schedule(gateway, delayMs, async () => {
    const end = gateway.activity.begin();
    const outcome = await gateway.lambda.invoke('$disconnect', (handlers) => handlers.disconnect, event);
    if (outcome.kind === 'failed') settings.onInvocationError(outcome.error, event);
    end();
  });
}
