import { createOperator } from '../api/create-api-function.ts';
import { apiOptionsOf } from './api-options.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime, withMetrics } from './runtime.ts';

const runtime = createRuntime(process.env, authorizationOf);

/** Carries out the operator's requests, by hand or by `apus`. */
export const handler = withMetrics(runtime, createOperator(apiOptionsOf(runtime)));
