import { createTimerHandler } from '../timers/handler.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';
import { required } from './settings.ts';
import { VARIABLES } from './variables.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, timers, clock, log } = runtime;
const deadLetters = runtime.queue(required(process.env, VARIABLES.deadLetterQueueUrl));

/** Wills, ends of sessions, and looks at connections that hold a will. */
export const handler = withMetrics(runtime, createTimerHandler({ cloud, timers, deadLetters, clock, log }));
