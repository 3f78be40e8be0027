import { gatewayId } from '../ids.ts';
import { readProxyResult } from '../lambda/proxy-result.ts';
import type { Connection } from './connection.ts';
import { closeConnection, cutConnection } from './connection-life.ts';
import { type ErrorMessage, errorFrame } from './error-frame.ts';
import { messageEvent } from './event-builder.ts';
import type { MessageEvent, ProxyResult } from './events.ts';
import { type Gateway, schedule, withinIntegrationTimeout } from './gateway.ts';
import { selectRoute } from './route-selection.ts';

/** A client's message starts an invocation, even while other messages of the connection are handled. */
export function receiveMessage(gateway: Gateway, connection: Connection, body: string): void {
  const { accountThrottle, counters, dice, settings } = gateway;
  const { faults, limits, routes, routeSelectionExpression } = settings;
  connection.lastActiveAtMs = settings.clock.now();
  if (!accountThrottle.take()) {
    refuseThrottled(gateway, connection);
    return;
  }
  if (connection.pendingMessages >= limits.pendingMessagesPerConnectionMax) {
    counters.event('pendingMessagesPerConnectionMax');
    closeConnection(gateway, connection, 1008, 'Too many messages are pending');
    return;
  }
  counters.message('in', Buffer.byteLength(body));
  if (dice.strikes('cut', faults.cut, { connectionId: connection.id, at: 'message' })) {
    cutConnection(connection);
    return;
  }
  const routeKey = selectRoute(body, routeSelectionExpression, routes);
  if (routes[routeKey]?.mock === true) {
    if (dice.strikes('mockFails', faults.mockFails, { connectionId: connection.id, routeKey }))
      sendError(gateway, connection, 'Internal server error', gatewayId(gateway.random));
    return;
  }
  const event = messageEvent(gateway, connection, routeKey, body);
  connection.pendingMessages += 1;
  schedule(gateway, dice.delayMs(faults.invocationDelayMs, event), () => {
    handle(gateway, connection, event).catch((error: unknown) => {
      cutConnection(connection);
      throw error;
    });
  });
}

async function handle(gateway: Gateway, connection: Connection, event: MessageEvent): Promise<void> {
  const end = gateway.activity.begin();
  const { routeKey, requestId } = event.requestContext;
  const invocation = gateway.lambda.invoke(
    routeKey,
    (handlers) => (routeKey === '$default' ? handlers.default : handlers.routes?.[routeKey]),
    event,
  );
  const outcome = await withinIntegrationTimeout(gateway, invocation);
  connection.pendingMessages -= 1;
  connection.handled();
  const result = outcome === undefined ? new Error('Endpoint request timed out') : readProxyResult(outcome);
  if (result instanceof Error) {
    gateway.settings.onInvocationError(result, event);
    const message = outcome === undefined ? 'Endpoint request timed out' : 'Internal server error';
    sendError(gateway, connection, message, requestId);
  } else if (reply(gateway, connection, event, result)) {
    return end();
  }
  gateway.settings.onAnswered(requestId);
  end();
}

/**
 * Two-way communication: the body of the result goes to the caller if the route has a route response. True if a reply
 * is on its way.
 */
function reply(gateway: Gateway, connection: Connection, event: MessageEvent, result: ProxyResult): boolean {
  const { counters, dice, settings } = gateway;
  const { emptyReplySendsFrame, faults, limits, routes } = settings;
  const body = result.body ?? '';
  const { routeKey, requestId } = event.requestContext;
  if (routes[routeKey]?.routeResponse !== true) return false;
  if (body === '' && !emptyReplySendsFrame) return false;
  if (Buffer.byteLength(body) > limits.messageBytesMax) {
    counters.event('replyTooLarge');
    sendError(gateway, connection, 'Internal server error', requestId);
    return false;
  }
  if (dice.strikes('dropReply', faults.dropReply, event)) return false;
  schedule(gateway, dice.delayMs(faults.replyDelayMs, event), () => {
    if (dice.strikes('cut', faults.cut, { connectionId: connection.id, at: 'reply' }))
      cutConnection(connection);
    else send(gateway, connection, 'replies', body);
    settings.onAnswered(requestId);
  });
  return true;
}

function sendError(gateway: Gateway, connection: Connection, message: ErrorMessage, requestId: string): void {
  schedule(gateway, 0, () =>
    send(gateway, connection, 'errors', errorFrame(message, connection.id, requestId)),
  );
}

function send(gateway: Gateway, connection: Connection, kind: 'replies' | 'errors', text: string): void {
  const { counters, settings } = gateway;
  if (!connection.reachable) {
    counters.event(`${kind}ToUnreachable`);
  } else if (connection.bufferedBytes > settings.limits.clientBufferBytesMax) {
    // A post would be answered 429. A reply has no caller, so it is lost.
    counters.event(`${kind}LostToSlowClient`);
  } else {
    counters.message(kind, Buffer.byteLength(text));
    connection.lastActiveAtMs = settings.clock.now();
    connection.send(text, settings.splitLargeMessages);
  }
}

function refuseThrottled(gateway: Gateway, connection: Connection): void {
  gateway.counters.event('messagesThrottled');
  if (gateway.settings.throttledMessage === 'close') closeConnection(gateway, connection, 1008, '');
  else sendError(gateway, connection, 'Too Many Requests', gatewayId(gateway.random));
}
