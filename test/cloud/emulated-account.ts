import { FRAME_ROUTES } from '@apus/aws';
import type { EmulatorOptions, Environment, Handler } from '@apus/emulated-aws';
import type { functionsOf } from './functions.ts';
import { FAN_OUT, FAN_OUT_DEAD, RULES, TIMERS, TIMERS_DEAD } from './names.ts';
import type { CloudWorldOptions } from './options.ts';
import { KAFKA_FUNCTION, KAFKA_SECONDS, RULES_SECONDS } from './outside.ts';

const SWEEP_SECONDS = 600;
const WORKER_SECONDS = 30;
/** A healthy job is handed back often: poison is told by lack of progress. */
const RECEIVE_COUNT_MAX = 1_000;

const RULES_QUEUE = {
  name: RULES,
  fifo: true,
  deduplicationScope: 'messageGroup',
  fifoThroughputLimit: 'perMessageGroupId',
  visibilityTimeoutSeconds: RULES_SECONDS,
} as const;

type Make = (environment: Environment) => ReturnType<typeof functionsOf>;

function rulesSource(make: Make) {
  return {
    queue: RULES,
    reportBatchItemFailures: true,
    function: {
      timeoutMs: RULES_SECONDS * 1000,
      createEnvironment: (environment: Environment) => make(environment).outside().rules,
    },
  };
}

function kafkaFunction(make: Make) {
  return {
    functionName: KAFKA_FUNCTION,
    timeoutMs: KAFKA_SECONDS * 1000,
    createEnvironment: (environment: Environment) =>
      make(environment).outside().kafka as Handler<unknown, unknown>,
  };
}

/** A deployment's functions, queues and schedules, for the emulator. */
export function emulatedAccount(options: CloudWorldOptions, make: Make, failures: string[]): EmulatorOptions {
  const { seed, clock, workerSeconds = WORKER_SECONDS } = options;
  const worker = { timeoutMs: workerSeconds * 1000 };
  return {
    routes: FRAME_ROUTES,
    seed,
    ...(clock !== undefined && { clock }),
    ...(options.faults !== undefined && { faults: options.faults }),
    ...(options.gatewayLimits !== undefined && { limits: options.gatewayLimits }),
    ...(options.iamCallers !== undefined && { iamCallers: options.iamCallers }),
    onInvocationError: (error) => failures.push(error.stack ?? error.message),
    queues: [
      { name: FAN_OUT_DEAD, fifo: true },
      { name: TIMERS_DEAD },
      {
        name: FAN_OUT,
        fifo: true,
        deduplicationScope: 'messageGroup',
        fifoThroughputLimit: 'perMessageGroupId',
        visibilityTimeoutSeconds: workerSeconds,
        redrive: { deadLetterQueue: FAN_OUT_DEAD, maxReceiveCount: RECEIVE_COUNT_MAX },
      },
      {
        name: TIMERS,
        visibilityTimeoutSeconds: workerSeconds,
        redrive: { deadLetterQueue: TIMERS_DEAD, maxReceiveCount: RECEIVE_COUNT_MAX },
      },
      ...(options.outside === undefined ? [] : [RULES_QUEUE]),
    ],
    createEnvironment: (environment) => make(environment).routes,
    eventSources: [
      {
        queue: FAN_OUT,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => make(environment).fanOut() },
      },
      {
        queue: TIMERS,
        reportBatchItemFailures: true,
        function: { ...worker, createEnvironment: (environment) => make(environment).timers() },
      },
      ...(options.outside === undefined ? [] : [rulesSource(make)]),
    ],
    functions: options.outside === undefined ? [] : [kafkaFunction(make)],
    schedules: [
      {
        rateSeconds: SWEEP_SECONDS,
        function: {
          functionName: 'apus-sweep',
          timeoutMs: 60_000,
          createEnvironment: (environment) => make(environment).sweep(),
        },
      },
    ],
  };
}
