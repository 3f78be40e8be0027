import { gatewayId } from '../ids.ts';
import { readProxyResult } from '../lambda/proxy-result.ts';
import { type Authorization, authorize } from './authorize.ts';
import { Connection } from './connection.ts';
import { connectEvent, handshakeOf } from './event-builder.ts';
import type { CallerIdentity, Handshake, ProxyResult } from './events.ts';
import { type Gateway, withinIntegrationTimeout } from './gateway.ts';
import type { UpgradeRequest } from './read-handshake.ts';

export type Admission =
  | { readonly accepted: true; readonly connection: Connection; readonly subprotocol: string | undefined }
  | {
      readonly accepted: false;
      readonly status: number;
      readonly reason?: string;
      readonly connectionId?: string;
    };

/** The client of a handshake, where places are few. */
export interface Arrival {
  /** It has to leave half of the rate of handshakes to others. */
  readonly isEager: boolean;
  /** False: there is no place for it. */
  takePlace(connectionId: string): boolean;
}

/** An upgrade request: the handshake waits for authorizer and `$connect`. */
export async function admit(
  gateway: Gateway,
  request: UpgradeRequest,
  arrivalFrom: (source: string) => Arrival = () => plainArrival(gateway),
): Promise<Admission> {
  const source = gateway.settings.sourceOf(request);
  if (typeof source !== 'string') return { accepted: false, ...source };
  const arrival = arrivalFrom(source);
  const status = refuseEarly(gateway, request, arrival);
  if (status !== undefined) return { accepted: false, status };
  const connection = createConnection(gateway, request, source);
  if (!arrival.takePlace(connection.id)) return { accepted: false, status: 503 };
  gateway.connections.set(connection.id, connection);
  const handshake = handshakeOf(gateway, request);
  const decision = await decide(gateway, connection, handshake, request);
  if ('status' in decision) {
    connection.state = 'closed';
    gateway.connections.delete(connection.id);
    return { accepted: false, status: decision.status, connectionId: connection.id };
  }
  return { accepted: true, connection, subprotocol: decision.subprotocol };
}

function plainArrival({ connections, settings }: Gateway): Arrival {
  return { isEager: false, takePlace: () => connections.size < settings.limits.connectionsMax };
}

/** The status with which the gateway refuses a request without a call of a function. */
function refuseEarly(gateway: Gateway, request: UpgradeRequest, { isEager }: Arrival): number | undefined {
  const { limits, stage } = gateway.settings;
  const url = request.url ?? '';
  if (url.length > limits.urlCharactersMax) return 414;
  if (url.split('?', 1)[0] !== `/${stage}`) return 403;
  const left = isEager ? limits.newConnectionsPerSecond / 2 : 0;
  return gateway.connectThrottle.take(left) ? undefined : 429;
}

function createConnection(gateway: Gateway, request: UpgradeRequest, sourceIp: string): Connection {
  const userAgent = request.headers['user-agent'];
  const identity = { ...(userAgent && { userAgent }), sourceIp };
  return new Connection(gatewayId(gateway.random), gateway.settings.clock.now(), identity);
}

type Decision = { readonly status: number } | { readonly subprotocol: string | undefined };

async function decide(
  gateway: Gateway,
  connection: Connection,
  handshake: Handshake,
  request: UpgradeRequest,
): Promise<Decision> {
  const authorization: Authorization = await authorize(gateway, connection, handshake, request);
  if (authorization.status !== 200) {
    if (authorization.error) gateway.settings.onInvocationError(authorization.error, undefined);
    return { status: authorization.status };
  }
  connection.authorizer = authorization.context;
  return runConnect(gateway, connection, handshake, authorization.caller);
}

async function runConnect(
  gateway: Gateway,
  connection: Connection,
  handshake: Handshake,
  caller: CallerIdentity | undefined,
): Promise<Decision> {
  const { dice, settings } = gateway;
  const event = connectEvent(gateway, connection, handshake, caller);
  const delayMs = dice.delayMs(settings.faults.invocationDelayMs, event);
  if (delayMs > 0) await new Promise<void>((resolve) => settings.clock.setTimer(delayMs, resolve));
  const invocation = gateway.lambda.invoke('$connect', (handlers) => handlers.connect, event);
  const outcome = await withinIntegrationTimeout(gateway, invocation);
  if (outcome === undefined) return { status: 504 };
  if (dice.strikes('dropHandshake', settings.faults.dropHandshake, event)) return { status: 502 };
  const result = readProxyResult(outcome);
  const decision = result instanceof Error ? result : judge(result, handshake);
  if (!(decision instanceof Error)) return decision;
  settings.onInvocationError(decision, event);
  return { status: 502 };
}

function judge(result: ProxyResult, handshake: Handshake): Decision | Error {
  if (result.statusCode >= 400) return { status: result.statusCode };
  if (result.statusCode < 200 || result.statusCode > 299) {
    return new Error(`$connect: expected a status that is 2xx or at least 400, got ${result.statusCode}`);
  }
  const subprotocol = header(result.headers ?? {}, 'sec-websocket-protocol')?.trim();
  if (subprotocol === undefined) return { subprotocol };
  const offered = (header(handshake.multiValueHeaders, 'sec-websocket-protocol') ?? '')
    .split(',')
    .map((name) => name.trim());
  // A browser would close a connection that API Gateway has opened in this way: so the emulator reports it here.
  if (offered.includes(subprotocol)) return { subprotocol };
  return new Error(`$connect chose the subprotocol "${subprotocol}", offered were "${offered.join(', ')}"`);
}

function header(headers: Readonly<Record<string, unknown>>, lowerCaseName: string): string | undefined {
  const entry = Object.entries(headers).find(([name]) => name.toLowerCase() === lowerCaseName);
  return entry === undefined ? undefined : String(entry[1]); // Several values become one list.
}
