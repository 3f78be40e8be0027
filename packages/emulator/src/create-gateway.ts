import { Activity } from './activity.ts';
import { Counters } from './counters.ts';
import type { Principals } from './credentials.ts';
import { ExecutionEnvironment } from './execution-environment.ts';
import { Dice } from './faults.ts';
import type { Gateway } from './gateway.ts';
import type { CreateEnvironment } from './lambda.ts';
import { lambdaVariables } from './lambda-context.ts';
import { LambdaFunction } from './lambda-function.ts';
import { type FunctionSettings, functionSettings, type Settings } from './options.ts';
import type { Random } from './random.ts';
import { Shuffler } from './shuffler.ts';
import { TokenBucket } from './token-bucket.ts';

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
  const dice = new Dice(random.fork(), (name) => counters.event(name));
  const createFunction = functionFactory(settings, random, principals, endpoint, counters, dice);
  return {
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
    domainName: settings.domainName ?? endpoint.host,
    stopped: false,
  };
}

/** Functions of one account: they share its concurrency, and each of their environments has credentials of its own. */
function functionFactory(
  settings: Settings,
  random: Random,
  principals: Principals,
  endpoint: Endpoint,
  counters: Counters,
  dice: Dice,
): <H>(functionOptions: FunctionSettings, createEnvironment: CreateEnvironment<H>) => LambdaFunction<H> {
  const { accountId, clock, faults, limits, region } = settings;
  const concurrency = { max: limits.concurrentExecutionsMax, running: 0 };
  let environments = 0;
  return (functionOptions, createEnvironment) =>
    new LambdaFunction({
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
}
