import { FRAME_ROUTES } from '@apus/aws';
import { rulesAuthorizer } from '@apus/broker';
import { type Environment, type InvokedFunction, startInProcess } from '@apus/emulated-aws';
import { functionsOf, logInto } from '../../cloud/functions.ts';
import { FAN_OUT, FAN_OUT_DEAD, TIMERS, TIMERS_DEAD } from '../../cloud/names.ts';
import { requestsOf } from '../../cloud/start-cloud-in-process.ts';
import { AUTHENTICATOR } from '../cast.ts';
import type { FaultPlan } from '../fault-plan.ts';
import type { StageWorld } from '../stage.ts';
import { STREAMS } from '../stream-readers.ts';
import type { Trace } from '../trace.ts';
import { traceFrame } from '../trace-world.ts';
import { QueuePoller, type SqsBatchResponse, type SqsEvent } from './queue-poller.ts';
import { MinistackServices } from './services.ts';

const INLINE_SUBSCRIBERS_MAX = 2;

/** A low limit, so that records drop old entries. */
const COMPLETED = { bytesMax: 50, bytesKept: 25 };
/** A worker's timeout, after which its jobs come again if it died. */
const WORKER_SECONDS = 6;
const FAN_OUT_WORKERS = 4;
const TIMER_WORKERS = 2;

/**
 * Every function of a deployment over a third-party DynamoDB and SQS. API Gateway and Lambda are the emulator's, in
 * this process: the plan decides which environment dies where, and which connection is cut.
 */
export async function startMinistackWorld(plan: FaultPlan, trace: Trace): Promise<StageWorld> {
  const { seed } = plan;
  const failures: string[] = [];
  const account = await MinistackServices.start(WORKER_SECONDS);
  const services = {
    dynamo: (environment: Environment) => account.dynamo(environment),
    sqs: (environment: Environment) => account.sqs(environment),
    queueUrl: (name: string) => account.queueUrl(name),
    requests: (environment: Environment) => requestsOf(emulator, environment),
    log: logInto(failures),
    // MiniStack reports no consumed units, or a wrong number.
    stores: { readUnitsFrom: 'sizes' as const },
  };
  const make = (environment: Environment) =>
    functionsOf(environment, services, {
      seed,
      inlineSubscribersMax: INLINE_SUBSCRIBERS_MAX,
      completed: COMPLETED,
      authenticator: AUTHENTICATOR,
      authorizer: rulesAuthorizer,
      streams: STREAMS,
      onFrame: (environmentId, bytes) => traceFrame(trace, environmentId, bytes),
    });
  const worker = (functionName: string, trigger: 'fanOut' | 'timers'): InvokedFunction => ({
    functionName,
    timeoutMs: WORKER_SECONDS * 1_000,
    createEnvironment: (environment) => {
      const handle = make(environment)[trigger]();
      return async (event, context) => await handle(event as SqsEvent, context);
    },
  });
  const emulator = startInProcess({
    seed,
    routes: FRAME_ROUTES,
    faults: plan.gateway,
    onInvocationError: (error) => failures.push(error.stack ?? error.message),
    createEnvironment: (environment) => make(environment).routes,
    functions: [worker(FAN_OUT, 'fanOut'), worker(TIMERS, 'timers')],
  });
  const poller = (queue: string, concurrency: number): QueuePoller =>
    new QueuePoller({
      client: account.sqs(undefined),
      queueUrl: account.queueUrl(queue),
      concurrency,
      invoke: async (event) => (await emulator.invoke(queue, event)) as SqsBatchResponse,
      forgets: (event) => plan.strikes('queue-redelivers', { queue, messages: event.Records.length }),
    });
  const pollers = [poller(FAN_OUT, FAN_OUT_WORKERS), poller(TIMERS, TIMER_WORKERS)];
  return {
    emulator,
    failures,
    deadLetters: async () => (await account.depth(FAN_OUT_DEAD)) + (await account.depth(TIMERS_DEAD)),
    stop: async () => {
      await Promise.all(pollers.map((each) => each.stop()));
      emulator.stop();
      await account.stop();
    },
  };
}
