import { Activity } from '../clock/activity.ts';
import { Random } from '../clock/random.ts';
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
import { SqsService } from '../sqs/service.ts';
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
  const dice = new Dice(random.fork(), (name) => counters.event(name));
  const functions: Gateway['functions'][number][] = [];
  const account = { settings, random, principals, endpoint, counters, dice, functions };
  const createFunction = functionFactory(account);
  const activity = new Activity();
  const gateway: Gateway = {
    settings,
    random,
    dice,
    counters,
    shuffler: new Shuffler(random.fork()),
    activity,
    connections: new Map(),
    connectThrottle: new TokenBucket(clock, limits.newConnectionsPerSecond, limits.newConnectionsPerSecond),
    accountThrottle: new TokenBucket(clock, limits.requestsPerSecond, limits.requestsBurst),
    lambda: createFunction(settings.lambda, settings.createEnvironment),
    authorizer:
      authorizer &&
      createFunction(functionSettings(authorizer, 'apus-authorizer'), authorizer.createEnvironment),
    functions,
    invoked: new Map(),
    sqs: createSqsService(settings, dice, counters, activity),
    domainName: settings.domainName ?? endpoint.host,
    stopped: false,
  };
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
  readonly dice: Dice;
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

/** Queues use a separate random stream, so they do not change runs without queues. */
function createSqsService(
  settings: Settings,
  dice: Dice,
  counters: Counters,
  activity: Activity,
): SqsService {
  const { accountId, clock, faults, hasSeededIds, region, seed, sqsLimits } = settings;
  const random = new Random(~seed, hasSeededIds);
  return new SqsService({
    ...{ accountId, activity, clock, dice, faults, random, region },
    limits: sqsLimits,
    tally: counters.sqs,
    shuffler: new Shuffler(random.fork()),
    onEvent: (name) => counters.event(name),
  });
}
