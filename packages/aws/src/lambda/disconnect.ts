import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';

const runtime = createRuntime(process.env, authorizationOf);

/** `$disconnect`: best effort, and perhaps while `$default` of the same connection runs. */
export const handler = withMetrics(runtime, runtime.cloud.routes.disconnect);
