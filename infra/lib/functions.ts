import { VARIABLES } from '@apus/aws/lambda';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { Verification } from './authentication.ts';
import { BrokerFunction, type BrokerFunctionProps } from './broker-function.ts';
import {
  GATEWAY_TIMEOUT,
  MEMORY_MEGABYTES_SMALL,
  OPERATOR_TIMEOUT,
  SWEEP_TIMEOUT,
  TIMERS_TIMEOUT,
  WORKER_TIMEOUT,
} from './defaults.ts';
import { grantBroker, grantConsume, grantLook, type Resources } from './permissions.ts';

/** The properties that all functions share. */
export type FunctionDefaults = Pick<
  BrokerFunctionProps,
  'environment' | 'memorySizeMegabytes' | 'logRetention' | 'logKey' | 'tracing' | 'layers'
>;

export interface FunctionsProps extends FunctionDefaults {
  readonly resources: Resources;
  readonly verification: Verification;
  readonly postsPerWorkerSecond: number;
  readonly reservedConcurrency: number | undefined;
  /** Functions that serve clients and backends are called through an alias. */
  readonly hasAliases: boolean;
}

/** The functions of a broker. Their permissions are granted here and in no other file. */
export class Functions {
  readonly gateway: BrokerFunction;
  readonly disconnect: BrokerFunction;
  readonly fanOut: BrokerFunction;
  readonly timers: BrokerFunction;
  readonly sweep: BrokerFunction;
  readonly operator: BrokerFunction;

  constructor(scope: Construct, props: FunctionsProps) {
    this.gateway = createGateway(scope, props);
    this.disconnect = createDisconnect(scope, props);
    this.fanOut = createFanOut(scope, props);
    this.timers = createTimers(scope, props);
    this.sweep = createSweep(scope, props);
    this.operator = createOperator(scope, props);
  }
}

function createGateway(scope: Construct, props: FunctionsProps): BrokerFunction {
  const { verification, reservedConcurrency } = props;
  const gateway = create(scope, 'Gateway', props, {
    entry: 'gateway',
    description: 'Apus: handshakes and frames of clients',
    timeout: GATEWAY_TIMEOUT,
    environment: verification.variables,
    hasAlias: props.hasAliases,
    ...(reservedConcurrency !== undefined && { reservedConcurrency }),
  });
  verification.grantVerify(gateway);
  return gateway;
}

/**
 * A separate function: it may run at the same time as `$default` of the same connection, and no client waits for it.
 */
function createDisconnect(scope: Construct, props: FunctionsProps): BrokerFunction {
  return create(scope, 'Disconnect', props, {
    entry: 'disconnect',
    description: 'Apus: connections that ended',
    hasAlias: props.hasAliases,
    timeout: GATEWAY_TIMEOUT,
  });
}

function createFanOut(scope: Construct, props: FunctionsProps): BrokerFunction {
  const { fanOut } = props.resources;
  const lambda = create(scope, 'FanOut', props, {
    entry: 'fanOut',
    description: 'Apus: messages of wide filters',
    timeout: WORKER_TIMEOUT,
    hasAlias: props.hasAliases,
    environment: {
      [VARIABLES.postsPerSecond]: String(props.postsPerWorkerSecond),
      [VARIABLES.deadLetterQueueUrl]: fanOut.deadLetters.queueUrl,
    },
  });
  grantConsume(lambda, fanOut);
  grantLook(lambda, props.resources);
  return lambda;
}

function createTimers(scope: Construct, props: FunctionsProps): BrokerFunction {
  const { timers } = props.resources;
  const lambda = create(scope, 'Timers', props, {
    entry: 'timers',
    description: 'Apus: wills and sessions whose time has come',
    timeout: TIMERS_TIMEOUT,
    hasAlias: props.hasAliases,
    memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
    environment: { [VARIABLES.deadLetterQueueUrl]: timers.deadLetters.queueUrl },
  });
  grantConsume(lambda, timers);
  grantLook(lambda, props.resources);
  return lambda;
}

function createSweep(scope: Construct, props: FunctionsProps): BrokerFunction {
  const lambda = create(scope, 'Sweep', props, {
    entry: 'sweep',
    description: 'Apus: connections and sessions that nothing else ended',
    timeout: SWEEP_TIMEOUT,
    // The next sweep is ten minutes away.
    retryAttempts: 0,
    memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
  });
  props.resources.state.grantScan(lambda);
  grantLook(lambda, props.resources);
  acknowledge(
    lambda,
    'Serverless-LambdaAsyncFailureDestination',
    'A sweep that fails is made up for by the next, ten minutes later; its alarm watches errors.',
  );
  return lambda;
}

/** Only its owner invokes it, with AWS credentials: it has no URL, and no route uses it. */
function createOperator(scope: Construct, props: FunctionsProps): BrokerFunction {
  const lambda = create(scope, 'Operator', props, {
    entry: 'operator',
    description: 'Apus: lists, kicks and bans clients for those who may invoke it',
    timeout: OPERATOR_TIMEOUT,
    memorySizeMegabytes: MEMORY_MEGABYTES_SMALL,
  });
  props.resources.state.grantScanSessions(lambda);
  return lambda;
}

type Particulars = Pick<BrokerFunctionProps, 'entry' | 'description' | 'timeout'> &
  Partial<BrokerFunctionProps>;

function create(
  scope: Construct,
  id: string,
  defaults: FunctionsProps,
  particulars: Particulars,
): BrokerFunction {
  const { memorySizeMegabytes, logRetention, logKey, tracing, layers = [], resources } = defaults;
  const lambda = new BrokerFunction(scope, id, {
    memorySizeMegabytes,
    logRetention,
    logKey,
    tracing,
    layers,
    hasAlias: false,
    ...particulars,
    environment: { ...defaults.environment, ...particulars.environment },
  });
  grantBroker(lambda, resources);
  return lambda;
}
