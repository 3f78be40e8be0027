import { Activity } from '../clock/activity.ts';
import type { Random } from '../clock/random.ts';
import { Shuffler } from '../clock/shuffler.ts';
import { Counters } from '../counters.ts';
import { Dice } from '../faults.ts';
import { lambdaVariables } from '../lambda/context.ts';
import type { Principals } from '../lambda/credentials.ts';
import { ExecutionEnvironment } from '../lambda/execution-environment.ts';
import { LambdaFunction } from '../lambda/function.ts';
import { startTriggers } from '../lambda/triggers.ts';
import type { CreateEnvironment } from '../lambda/types.ts';
import { TokenBucket } from '../management/token-bucket.ts';
import { type FunctionSettings, functionSettings, type Settings } from '../options.ts';
import type { Gateway } from './gateway.ts';

/** Makes a function of the account. */
export type CreateFunction = <H>(
  functionOptions: FunctionSettings,
  createEnvironment: CreateEnvironment<H>,
) => LambdaFunction<H>;

export interface Endpoint {
  /** Name and port. */
  readonly host: string;
  readonly managementEndpoint: string;
}

export function createGateway(
  settings: Settings,
  random: Random,
  principals: Principals,
  endpoint: Endpoint,
): Gateway {
  const { authorizer, clock, limits } = settings;
  const counters = new Counters(clock);
  const dice = new Dice<string>(random.fork(), (name) => counters.event(name));
  const functions: Gateway['functions'][number][] = [];
  const account = { settings, random, principals, endpoint, counters, dice, functions };
  const createFunction = functionFactory(account);
  const gateway: Gateway = {
    settings,
    random,
    dice,
    counters,
    shuffler: new Shuffler(random.fork()),
    activity: new Activity(),
    connections: new Map(),
    connectThrottle: new TokenBucket(clock, limits.newConnectionsPerSecond, limits.newConnectionsPerSecond),
    accountThrottle: new TokenBucket(clock, limits.requestsPerSecond, limits.requestsBurst),
    lambda: createFunction(settings.lambda, settings.createEnvironment),
    authorizer:
      authorizer &&
      createFunction(functionSettings(authorizer, 'apus-authorizer'), authorizer.createEnvironment),
    functions,
    invoked: new Map(),
    attached: undefined,
    domainName: settings.domainName ?? endpoint.host,
    stopped: false,
  };
  gateway.attached = settings.attach?.(gateway, createFunction);
  startTriggers(gateway, createFunction);
  return gateway;
}

/** The parts of an account that its functions share. */
interface Account {
  readonly settings: Settings;
  readonly random: Random;
  readonly principals: Principals;
  readonly endpoint: Endpoint;
  readonly counters: Counters;
  readonly dice: Dice<string>;
  /** The functions of the account. Each new one is added. */
  readonly functions: Gateway['functions'][number][];
}

/** Functions of one account: they share its concurrency, and each of their environments has credentials of its own. */
function functionFactory(account: Account): CreateFunction {
  const { settings, random, principals, endpoint, counters, dice, functions } = account;
  const { accountId, clock, faults, limits, region } = settings;
  const concurrency = { max: limits.concurrentExecutionsMax, running: 0 };
  let environments = 0;
  return <H>(functionOptions: FunctionSettings, createEnvironment: CreateEnvironment<H>) => {
    const lambda = new LambdaFunction<H>({
      settings: functionOptions,
      createEnvironment,
      region,
      accountId,
      clock,
      random: random.fork(),
      counters,
      concurrency,
      startEnvironment(coldStart) {
        const environment = new ExecutionEnvironment({
          id: `environment-${environments++}`,
          coldStart,
          managementEndpoint: endpoint.managementEndpoint,
          variables: lambdaVariables(functionOptions, region),
          clock,
          random,
          dice,
          faults,
        });
        principals.add({ credentials: environment.credentials, environment });
        return environment;
      },
    });
    functions.push(lambda);
    return lambda;
  };
}
