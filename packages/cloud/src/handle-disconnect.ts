import { flush, forsake, loseConnection } from './after.ts';
import type { Environment } from './environment.ts';
import type { DisconnectEvent, ProxyResult } from './events.ts';

/** `$disconnect`: best effort and late; a connection that ended in order is over already. */
export async function handleDisconnect(
  environment: Environment,
  event: DisconnectEvent,
): Promise<ProxyResult> {
  const { connectionId, disconnectStatusCode, disconnectReason } = event.requestContext;
  const why = `${disconnectStatusCode ?? ''} ${disconnectReason ?? ''}`.trim();
  try {
    await loseConnection(environment, connectionId, why);
  } catch (error) {
    forsake(environment);
    throw error;
  } finally {
    await flush(environment);
  }
  return { statusCode: 200 };
}
