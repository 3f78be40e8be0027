import { gatewayId } from '../ids.ts';
import type { Connection } from './connection.ts';
import type {
  AuthorizerEvent,
  CallerIdentity,
  ConnectEvent,
  DisconnectEvent,
  Handshake,
  MessageEvent,
  RequestContext,
} from './events.ts';
import type { Gateway } from './gateway.ts';
import { readHandshake, type UpgradeRequest } from './read-handshake.ts';

export function handshakeOf(gateway: Gateway, request: UpgradeRequest): Handshake {
  return readHandshake(request, gateway.settings.headerNames, gateway.random);
}

export function connectEvent(
  gateway: Gateway,
  connection: Connection,
  handshake: Handshake,
  caller: CallerIdentity | undefined,
): ConnectEvent {
  return {
    ...handshake,
    requestContext: {
      ...requestContext(gateway, connection),
      identity: { ...connection.identity, ...caller },
      routeKey: '$connect',
      eventType: 'CONNECT',
    },
    isBase64Encoded: false,
  };
}

export function messageEvent(
  gateway: Gateway,
  connection: Connection,
  routeKey: string,
  body: string,
): MessageEvent {
  return {
    requestContext: {
      ...requestContext(gateway, connection),
      routeKey,
      messageId: gatewayId(gateway.random),
      eventType: 'MESSAGE',
    },
    body,
    isBase64Encoded: false,
  };
}

export function disconnectEvent(
  gateway: Gateway,
  connection: Connection,
  close: { readonly code: number; readonly reason: string },
): DisconnectEvent {
  const headers = { Host: gateway.domainName, 'x-api-key': '', 'X-Forwarded-For': '', 'x-restapi': '' };
  return {
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    requestContext: {
      ...requestContext(gateway, connection),
      routeKey: '$disconnect',
      eventType: 'DISCONNECT',
      disconnectStatusCode: close.code,
      disconnectReason: close.reason,
    },
    isBase64Encoded: false,
  };
}

export function authorizerEvent(
  gateway: Gateway,
  connection: Connection,
  handshake: Handshake,
): AuthorizerEvent {
  const { accountId, apiId, region, stage } = gateway.settings;
  return {
    type: 'REQUEST',
    methodArn: `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/$connect`,
    ...handshake,
    requestContext: { ...requestContext(gateway, connection), routeKey: '$connect', eventType: 'CONNECT' },
  };
}

function requestContext(gateway: Gateway, connection: Connection): Omit<RequestContext, 'routeKey'> {
  const { apiId, clock, stage } = gateway.settings;
  const nowMs = clock.now();
  const requestId = gatewayId(gateway.random);
  return {
    extendedRequestId: requestId,
    requestTime: requestTime(nowMs),
    messageDirection: 'IN',
    stage,
    connectedAt: connection.connectedAtMs,
    requestTimeEpoch: nowMs,
    identity: connection.identity,
    requestId,
    domainName: gateway.domainName,
    connectionId: connection.id,
    apiId,
    ...(connection.authorizer && { authorizer: connection.authorizer }),
  };
}

/** The log format of web servers, in UTC: `19/Jan/2023:21:13:26 +0000`. */
function requestTime(epochMs: number): string {
  const [, day, month, year, time] = new Date(epochMs).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
