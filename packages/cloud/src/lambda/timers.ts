import { createTimerHandler } from '../timers/handler.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import { required } from './settings.ts';
import { VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, timers, clock, log } = runtime;
const { liveness } = cloud;
if (liveness === undefined) throw new Error('a function with timers looks after connections');

/** Wills, ends of sessions, and looks at connections that hold a will. */
export const handler = withMetrics(
  runtime,
  createTimerHandler({
    environment: cloud.environment,
    timers,
    liveness,
    ticks: cloud.ticks,
    deadLetters: runtime.queue(required(process.env, VARIABLES.deadLetterQueueUrl)),
    clock,
    log,
  }),
);
