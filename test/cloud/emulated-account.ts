import { FRAME_ROUTES } from '@apus/cloud';
import type { EmulatorOptions, Environment } from '@apus/emulator';
import type { functionsOf } from './functions.ts';
import { FAN_OUT, FAN_OUT_DEAD, TIMERS, TIMERS_DEAD } from './names.ts';
import type { CloudWorldOptions } from './options.ts';

const SWEEP_SECONDS = 600;
const WORKER_SECONDS = 30;
/** A healthy job is handed back often: poison is told by lack of progress. */
const RECEIVE_COUNT_MAX = 1_000;

/** A deployment's functions, queues and schedules, for the emulator. */
export function emulatedAccount(
  options: CloudWorldOptions,
  make: (environment: Environment) => ReturnType<typeof functionsOf>,
  failures: string[],
): EmulatorOptions {
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
    ],
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
