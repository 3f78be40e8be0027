import { flush, forsake, loseConnection } from './after.ts';
import type { Environment } from './environment.ts';
import type { DisconnectEvent, ProxyResult, RequestContext } from './events.ts';
import { CONNECTION_SECONDS_MAX } from './options.ts';

/** Going away: at ten idle minutes, and at two hours. */
const GOING_AWAY = 1001;

/** A connection that ends so shortly before its two hours was cut for its age. */
const CUT_MARGIN_MS = 5_000;

/** `$disconnect`: best effort and late; a connection that ended in order is over already. */
export async function handleDisconnect(
  environment: Environment,
  event: DisconnectEvent,
): Promise<ProxyResult> {
  const { connectionId, disconnectStatusCode, disconnectReason } = event.requestContext;
  const why = `${disconnectStatusCode ?? ''} ${disconnectReason ?? ''}`.trim();
  try {
    await loseConnection(environment, connectionId, why, { wasCut: wasCut(event.requestContext) });
  } catch (error) {
    forsake(environment);
    throw error;
  } finally {
    await flush(environment);
  }
  return { statusCode: 200 };
}

/** Undefined where the gateway does not say why: the broker then goes by the age of the connection. */
function wasCut({
  disconnectStatusCode,
  connectedAt,
  requestTimeEpoch,
}: RequestContext): boolean | undefined {
  if (disconnectStatusCode === undefined) return undefined;
  const ageMs = requestTimeEpoch - connectedAt;
  return disconnectStatusCode === GOING_AWAY && ageMs >= CONNECTION_SECONDS_MAX * 1_000 - CUT_MARGIN_MS;
}
