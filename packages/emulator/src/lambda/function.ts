import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Counters } from '../counters.ts';
import { uuid } from '../ids.ts';
import type { FunctionSettings } from '../options.ts';
import { lambdaContext } from './context.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';
import { failed, type Outcome, runInvocation } from './invocation.ts';
import type { CreateEnvironment, Handler, LambdaContext } from './types.ts';

/** The account's concurrency, which all functions share. */
interface Concurrency {
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
  /** Creates the environment and registers its credentials. */
  readonly startEnvironment: (coldStart: number) => ExecutionEnvironment;
}

interface Sandbox<H> {
  readonly environment: ExecutionEnvironment;
  readonly handlers: H;
}

/**
 * A Lambda function: concurrent invocations get an execution environment each. An idle one is used again; one that
 * timed out or was killed is not.
 */
export class LambdaFunction<H> {
  readonly #parts: FunctionParts<H>;
  readonly #all = new Set<ExecutionEnvironment>();
  #idle: Sandbox<H>[] = [];
  #coldStarts = 0;

  constructor(parts: FunctionParts<H>) {
    this.#parts = parts;
  }

  get settings(): FunctionSettings {
    return this.#parts.settings;
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

  /** Idle environments are not used again: the next invocations start cold. */
  retireIdle(): void {
    for (const { environment } of this.#idle) this.#retire(environment);
    this.#idle = [];
  }

  /** False if there is no such environment. */
  kill(environmentId: string): boolean {
    for (const environment of this.#all) {
      if (environment.id !== environmentId) continue;
      this.#retire(environment);
      return true;
    }
    return false;
  }

  stop(): void {
    for (const environment of this.#all) this.#retire(environment);
  }

  #retire(environment: ExecutionEnvironment): void {
    this.#all.delete(environment);
    environment.kill();
  }

  #takeIdle(): Sandbox<H> | undefined {
    // An idle environment may have been killed by a call that it had not awaited.
    this.#idle = this.#idle.filter(({ environment }) => !environment.dead);
    if (this.#parts.settings.reuse === 'lifo') return this.#idle.pop();
    return this.#idle.splice(this.#parts.random.integer(this.#idle.length), 1)[0];
  }

  async #startCold(): Promise<Sandbox<H>> {
    const { clock, counters, createEnvironment, settings, startEnvironment } = this.#parts;
    const startedAtMs = clock.now();
    const environment = startEnvironment(this.#coldStarts++);
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
    const { timeoutMs } = settings;
    const startedAtMs = clock.now();
    const context = this.#context(environment, startedAtMs + timeoutMs);
    environment.thaw();
    const invocation = { environment, route, handler, event, context, timeoutMs };
    const { end, outcome } = await runInvocation(clock, invocation);
    if (end === 'timeout') {
      this.#retire(environment);
    } else {
      environment.freeze();
      this.#idle.push(sandbox);
    }
    counters.invocation(route, end, clock.now() - startedAtMs, settings.memoryMegabytes);
    return outcome;
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
