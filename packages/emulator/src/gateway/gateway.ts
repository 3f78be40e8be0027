import type { Activity } from '../clock/activity.ts';
import type { Random } from '../clock/random.ts';
import type { Shuffler } from '../clock/shuffler.ts';
import type { Counters } from '../counters.ts';
import type { Dice } from '../faults.ts';
import type { LambdaFunction } from '../lambda/function.ts';
import type { Outcome } from '../lambda/invocation.ts';
import type { AuthorizerHandlers, Handler, Handlers } from '../lambda/types.ts';
import type { TokenBucket } from '../management/token-bucket.ts';
import type { Attached, Settings } from '../options.ts';
import type { Connection } from './connection.ts';

/** The state that the routes of the WebSocket API and the @connections API share. */
export interface Gateway {
  readonly settings: Settings;
  readonly random: Random;
  readonly dice: Dice<string>;
  readonly counters: Counters;
  readonly shuffler: Shuffler;
  readonly activity: Activity;
  /** By id: connecting and open connections. */
  readonly connections: Map<string, Connection>;
  /** New connections. */
  readonly connectThrottle: TokenBucket;
  /** Messages and @connections calls. */
  readonly accountThrottle: TokenBucket;
  readonly lambda: LambdaFunction<Handlers>;
  readonly authorizer: LambdaFunction<AuthorizerHandlers> | undefined;
  /** Every function of the account, including those of event sources and schedules. */
  readonly functions: readonly Pick<LambdaFunction<never>, 'kill' | 'retireIdle' | 'stop'>[];
  /** Those without a trigger, by their names. */
  readonly invoked: Map<string, LambdaFunction<Handler<unknown, unknown>>>;
  attached: Attached | undefined;
  /** In events. */
  readonly domainName: string;
  stopped: boolean;
}

/** Runs a task after a delay, and out of order. A scheduled task counts as activity until it runs. */
export function schedule(gateway: Gateway, delayMs: number, run: () => void): void {
  const { activity, random, settings, shuffler } = gateway;
  const end = activity.begin();
  const depart = (): void => {
    end();
    if (!gateway.stopped) run();
  };
  const arrive = (): void => {
    if (random.happens(settings.faults.shuffle ?? 1)) shuffler.add(depart);
    else depart();
  };
  if (delayMs > 0) settings.clock.setTimer(delayMs, arrive);
  else arrive();
}

/** The integration's result, or `undefined` if it takes longer than API Gateway waits. The function runs on. */
export async function withinIntegrationTimeout(
  gateway: Gateway,
  invocation: Promise<Outcome>,
): Promise<Outcome | undefined> {
  const { clock, limits } = gateway.settings;
  let cancelTimer = (): void => {};
  const timeout = new Promise<undefined>((resolve) => {
    cancelTimer = clock.setTimer(limits.integrationTimeoutMs, () => resolve(undefined));
  });
  const outcome = await Promise.race([invocation, timeout]);
  cancelTimer();
  return outcome;
}
