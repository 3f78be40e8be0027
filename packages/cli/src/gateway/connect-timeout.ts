import type { Handlers, Poster } from '@apus/aws';
import type { ConnectionId, LinkStore, Log } from '@apus/broker';
import type { Scheduler } from '@apus/node';

export interface ConnectTimeoutOptions {
  /** From the handshake to CONNACK. */
  readonly seconds: number;
  readonly links: LinkStore;
  readonly poster: () => Poster;
  readonly clock: Scheduler;
  readonly log: Log;
}

/**
 * Closes connections of the gateway door on which CONNECT is not completed in time. In a deployment the sweep does
 * this. [SEC-MEMORY-6]
 */
export function withConnectTimeout(handlers: Handlers, options: ConnectTimeoutOptions): Handlers {
  return {
    ...handlers,
    async connect(event) {
      const result = await handlers.connect(event);
      const { connectionId } = event.requestContext;
      if (result.statusCode === 200) {
        options.clock.after(options.seconds * 1000, () => void endUnconnected(connectionId, options));
      }
      return result;
    },
  };
}

async function endUnconnected(
  connectionId: ConnectionId,
  { links, poster, log }: ConnectTimeoutOptions,
): Promise<void> {
  const phase = (await links.load(connectionId))?.phase ?? 'new';
  if (phase === 'connected' || phase === 'closed') return;
  log.info('connect-timeout', { connectionId });
  await poster().delete(connectionId);
}
