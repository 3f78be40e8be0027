import type { Clock } from './clock.ts';
import type { Counters, InvocationEnd } from './counters.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';
import { uuid } from './ids.ts';
import type { CreateEnvironment, Handler, LambdaContext } from './lambda.ts';
import { lambdaContext } from './lambda-context.ts';
import type { FunctionSettings } from './options.ts';
import type { Random } from './random.ts';

/** What API Gateway learns of an invocation. */
export type Outcome =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: Error };

/** The account's concurrency, which all functions share. */
export interface Concurrency {
  readonly max: number;
  running: number;
}

export interface FunctionParts<H> {
  readonly settings: FunctionSettings;
  readonly createEnvironment: CreateEnvironment<H>;
  readonly region: string;
  readonly accountId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly counters: Counters;
  readonly concurrency: Concurrency;
  /** Makes the sandbox and lets its credentials in. */
  readonly startEnvironment: (coldStart: number, settings: FunctionSettings) => ExecutionEnvironment;
}

interface Sandbox<H> {
  readonly environment: ExecutionEnvironment;
  readonly handlers: H;
}

/**
 * A Lambda function: invocations that overlap get an execution environment each, one that has become idle is used
 * again, and one that timed out, or was killed, is not.
 */
export class LambdaFunction<H> {
  readonly #parts: FunctionParts<H>;
  readonly #all = new Set<ExecutionEnvironment>();
  #idle: Sandbox<H>[] = [];
  #coldStarts = 0;

  constructor(parts: FunctionParts<H>) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async invoke<Event>(
    route: string,
    choose: (handlers: H) => Handler<Event, unknown> | undefined,
    event: Event,
  ): Promise<Outcome> {
    const { concurrency } = this.#parts;
    if (concurrency.running >= concurrency.max) {
      this.#parts.counters.event('lambdaThrottled');
      return failed(new Error(`Rate exceeded: ${concurrency.max} invocations are running`));
    }
    concurrency.running += 1;
    try {
      const sandbox = this.#takeIdle() ?? (await this.#startCold());
      return await this.#run(route, sandbox, choose(sandbox.handlers), event);
    } catch (error) {
      return failed(error);
    } finally {
      concurrency.running -= 1;
    }
  }

  /** Environments that are idle do not serve again: the next invocations start cold. */
  retireIdle(): void {
    for (const { environment } of this.#idle) this.#retire(environment);
    this.#idle = [];
  }

  /** False when there is no such environment alive. */
  kill(environmentId: string): boolean {
    for (const environment of this.#all) {
      if (environment.id !== environmentId) continue;
      this.#idle = this.#idle.filter((sandbox) => sandbox.environment !== environment);
      this.#retire(environment);
      return true;
    }
    return false;
  }

  stop(): void {
    this.#idle = [];
    for (const environment of this.#all) this.#retire(environment);
  }

  #retire(environment: ExecutionEnvironment): void {
    this.#all.delete(environment);
    environment.kill();
  }

  #takeIdle(): Sandbox<H> | undefined {
    if (this.#parts.settings.reuse === 'lifo') return this.#idle.pop();
    return this.#idle.splice(this.#parts.random.integer(this.#idle.length), 1)[0];
  }

  async #startCold(): Promise<Sandbox<H>> {
    const { clock, counters, createEnvironment, settings, startEnvironment } = this.#parts;
    const startedAtMs = clock.now();
    const environment = startEnvironment(this.#coldStarts++, settings);
    this.#all.add(environment);
    try {
      if (settings.coldStartMs > 0) {
        await new Promise<void>((resolve) => clock.setTimer(settings.coldStartMs, resolve));
      }
      return { environment, handlers: await createEnvironment(environment) };
    } catch (error) {
      this.#retire(environment);
      throw error;
    } finally {
      counters.coldStart(clock.now() - startedAtMs, settings.memoryMegabytes);
    }
  }

  async #run<Event>(
    route: string,
    sandbox: Sandbox<H>,
    handler: Handler<Event, unknown> | undefined,
    event: Event,
  ): Promise<Outcome> {
    const { clock, counters, settings } = this.#parts;
    const { environment } = sandbox;
    const startedAtMs = clock.now();
    const context = this.#context(environment, startedAtMs + settings.timeoutMs);
    environment.thaw();
    const { end, outcome } = await this.#race(environment, route, handler, event, context);
    if (end === 'timeout') {
      this.#retire(environment);
    } else {
      environment.freeze();
      this.#idle.push(sandbox);
    }
    counters.invocation(route, end, clock.now() - startedAtMs, settings.memoryMegabytes);
    return outcome;
  }

  /** The handler against its timeout. A dead environment's handler cannot win, whatever it returns. */
  #race<Event>(
    environment: ExecutionEnvironment,
    route: string,
    handler: Handler<Event, unknown> | undefined,
    event: Event,
    context: LambdaContext,
  ): Promise<{ end: InvocationEnd; outcome: Outcome }> {
    const { clock, settings } = this.#parts;
    return new Promise((resolve) => {
      const cancelTimer = clock.setTimer(settings.timeoutMs, () => {
        const seconds = (settings.timeoutMs / 1000).toFixed(2);
        const error = new Error(`${context.awsRequestId} Task timed out after ${seconds} seconds (${route})`);
        resolve({ end: 'timeout', outcome: failed(error) });
      });
      const settle = (end: InvocationEnd, outcome: Outcome): void => {
        if (environment.dead) return;
        cancelTimer();
        resolve({ end, outcome });
      };
      callHandler(route, handler, event, context).then(
        (value) => settle('returned', { kind: 'returned', value }),
        (error: unknown) => settle('error', failed(error)),
      );
    });
  }

  #context(environment: ExecutionEnvironment, deadlineMs: number): LambdaContext {
    const { accountId, clock, random, region, settings } = this.#parts;
    return lambdaContext({
      settings,
      region,
      accountId,
      environmentId: environment.id,
      requestId: uuid(random),
      remainingMs: () => Math.max(0, deadlineMs - clock.now()),
    });
  }
}

/** Event and result cross the border as JSON, as they do in the cloud: nothing is shared, nothing but JSON survives. */
async function callHandler<Event>(
  route: string,
  handler: Handler<Event, unknown> | undefined,
  event: Event,
  context: LambdaContext,
): Promise<unknown> {
  if (handler === undefined) throw new Error(`The environment has no handler for the route ${route}`);
  const value = await handler(JSON.parse(JSON.stringify(event)), context);
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

function failed(error: unknown): Outcome {
  return { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
}
