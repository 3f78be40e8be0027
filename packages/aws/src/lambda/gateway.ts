import type { ConnectEvent, InvocationContext, MessageEvent, ProxyResult } from '../events/gateway.ts';
import { authenticationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';

const runtime = createRuntime(process.env, authenticationOf);
const { routes } = runtime.cloud;

/** `$connect` and `$default`: one function, so that a handshake warms the environment that CONNECT meets. */
export const handler = withMetrics(
  runtime,
  async (event: ConnectEvent & MessageEvent, context: InvocationContext): Promise<ProxyResult> =>
    event.requestContext.eventType === 'CONNECT'
      ? await routes.connect(event)
      : await routes.default(event, context),
);
