import type { Clock } from '../clock/clock.ts';
import type { InvocationEnd } from '../counters.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';
import type { Handler, LambdaContext } from './types.ts';

/** The outcome of an invocation as API Gateway sees it. */
export type Outcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: Error };

export interface Invocation<Event> {
  readonly environment: ExecutionEnvironment;
  readonly route: string;
  /** Absent if the environment has no handler for the route. */
  readonly handler: Handler<Event, unknown> | undefined;
  readonly event: Event;
  readonly context: LambdaContext;
  readonly timeoutMs: number;
}

/** The handler with its timeout. The result of a dead environment's handler is ignored. */
export function runInvocation<Event>(
  clock: Clock,
  invocation: Invocation<Event>,
): Promise<{ end: InvocationEnd; outcome: Outcome }> {
  const { context, environment, route, timeoutMs } = invocation;
  return new Promise((resolve) => {
    const cancelTimer = clock.setTimer(timeoutMs, () => {
      const seconds = (timeoutMs / 1000).toFixed(2);
      const error = new Error(`${context.awsRequestId} Task timed out after ${seconds} seconds (${route})`);
      resolve({ end: 'timeout', outcome: failed(error) });
    });
    const finish = (end: InvocationEnd, outcome: Outcome): void => {
      if (environment.dead) return;
      cancelTimer();
      resolve({ end, outcome });
    };
    callHandler(invocation).then(
      (value) => finish('returned', { kind: 'returned', value }),
      (error: unknown) => finish('error', failed(error)),
    );
  });
}

export function failed(error: unknown): Outcome {
  return { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
}

/** Event and result pass as JSON, as in the cloud: nothing is shared, and only JSON survives. */
async function callHandler<Event>({ context, event, handler, route }: Invocation<Event>): Promise<unknown> {
  if (handler === undefined) throw new Error(`The environment has no handler for the route ${route}`);
  const value = await handler(JSON.parse(JSON.stringify(event)), context);
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
