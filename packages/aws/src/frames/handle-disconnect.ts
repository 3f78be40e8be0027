import type { ConnectionId, LinkState } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { GatewayLink } from '../connections/gateway-link.ts';
import { loseConnection, tellLost } from '../connections/lose.ts';
import type { Environment } from '../environment.ts';
import type { DisconnectEvent, ProxyResult, RequestContext } from '../events/gateway.ts';
import { refreshBans } from '../identity/refresh-bans.ts';
import { CONNECTION_SECONDS_MAX } from '../options.ts';
import { inOneEvent, type Outbox } from '../outbox.ts';
import { EventUsage, tenantOf } from '../usage/event-usage.ts';
import { DISCONNECT_CODE } from './text-frame.ts';

/** Going Away: the gateway closes at ten idle minutes, and at two hours. */
const GOING_AWAY = 1001;

/** A connection that ends so shortly before its two hours was cut for its age. */
const CUT_MARGIN_MS = 5_000;

/** No close frame came. */
const ABNORMAL = 1006;

/** Connections that end like this have seldom sent DISCONNECT: a tab was closed, or a network was lost. */
const WITHOUT_DISCONNECT: ReadonlySet<number | undefined> = new Set([GOING_AWAY, ABNORMAL]);

/** `$disconnect`: best effort and late. A connection that ended in order is over already. */
export async function handleDisconnect(
  environment: Environment,
  event: DisconnectEvent,
): Promise<ProxyResult> {
  const { connectionId, disconnectStatusCode, disconnectReason } = event.requestContext;
  const why = `${disconnectStatusCode ?? ''} ${disconnectReason ?? ''}`.trim();
  await refreshBans(environment);
  if (disconnectStatusCode === DISCONNECT_CODE) {
    await inOneEvent(environment, async (outbox) => {
      count(outbox.usage, event, await disconnectByClose(outbox, connectionId, why));
    });
    return { statusCode: 200 };
  }
  // After a DISCONNECT nothing is left to do: a read finds that out for a fifth of the price of a write. If a
  // tombstone is written after this read, `end` finds it.
  if (!WITHOUT_DISCONNECT.has(disconnectStatusCode)) {
    const found = await environment.links.load(connectionId);
    if (found?.phase === 'closed') {
      countAlone(environment, event, found);
      return { statusCode: 200 };
    }
  }
  await inOneEvent(environment, async (outbox) => {
    const loss = { wasCut: wasCut(event.requestContext) };
    count(outbox.usage, event, await loseConnection(outbox, connectionId, why, loss));
  });
  return { statusCode: 200 };
}

/** Counts the minutes of a connection, once: API Gateway says when it began and ended. */
function count(usage: EventUsage | undefined, { requestContext }: DisconnectEvent, state?: LinkState): void {
  usage?.isOf(tenantOf(state));
  usage?.connection(requestContext.requestTimeEpoch - requestContext.connectedAt);
}

function countAlone({ usage, defaultTenant }: Environment, event: DisconnectEvent, state: LinkState): void {
  const alone = usage && new EventUsage(usage, defaultTenant);
  count(alone, event, state);
  alone?.handOver();
}

/**
 * The client has said DISCONNECT by its close code (docs/text-frames.md, section 14). This handler runs by best effort
 * only, so a client with a will has to send DISCONNECT: its close with this code is a loss [MQTT-3.14.4-3]. Without a
 * will, a loss leaves nothing that DISCONNECT would have withdrawn.
 */
async function disconnectByClose(
  outbox: Outbox,
  connectionId: ConnectionId,
  why: string,
): Promise<LinkState | undefined> {
  const { broker, links } = outbox;
  const found = await links.end(connectionId);
  if (found === undefined) return undefined;
  // A publisher may have found the connection gone before. Then its session waits for the client.
  const state = found.phase === 'closed' && found.movedTo === undefined ? (found.before ?? found) : found;
  if (!mayEndByClose(state)) {
    await tellLost(broker, connectionId, found, why);
    return found;
  }
  const link = new GatewayLink(connectionId, { address: 'unknown' }, state);
  await broker.receive(link, {
    type: 'disconnect',
    reasonCode: ReasonCode.NormalDisconnection,
    properties: {},
  });
  return state;
}

function mayEndByClose(state: LinkState): boolean {
  if (state.phase !== 'connected') return false;
  const { endsByClose, willDelaySeconds } = state.connection;
  return endsByClose === true && willDelaySeconds === undefined;
}

/** Undefined: the gateway does not say why. The broker then goes by the age of the connection. */
function wasCut({
  disconnectStatusCode,
  connectedAt,
  requestTimeEpoch,
}: RequestContext): boolean | undefined {
  if (disconnectStatusCode === undefined) return undefined;
  const ageMs = requestTimeEpoch - connectedAt;
  return disconnectStatusCode === GOING_AWAY && ageMs >= CONNECTION_SECONDS_MAX * 1_000 - CUT_MARGIN_MS;
}
