import type { Authorizer, Clock, Log } from '@apus/broker';
import {
  CLOUD_HOOK_TIMEOUT_MS,
  createAuthorizer,
  type HookContext,
  readAuthorization,
  systemTimers,
} from '@apus/identity';
import { functionSender } from '../fan-out/invoke-function.ts';
import type { Variables } from '../function-options.ts';
import { credentialsOf } from './settings.ts';
import { VARIABLES } from './variables.ts';

export interface InvocationOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Time that is left of an invocation for the answer of a hook, in ms. @default any time */
  readonly remainingMs?: () => number;
}

/** Services that hooks have at hand in a function. */
export function hookContextOf(
  variables: Variables,
  { clock, log, remainingMs }: InvocationOptions,
): HookContext {
  return {
    clock,
    timers: { ...systemTimers, ...clock },
    log,
    hookTimeoutMsMax: CLOUD_HOOK_TIMEOUT_MS,
    remainingMs,
    functionSender: (functionArn, answerBytesMax) =>
      functionSender({
        functionArn,
        answerBytesMax,
        credentials: credentialsOf(variables),
        endpoint: variables.AWS_ENDPOINT_URL,
        now: () => clock.now(),
      }),
  };
}

/** The authorizer of the deployment's configuration. Every function needs it: wills are authorised when they fire. */
export function authorizerOf(variables: Variables, context: HookContext): Authorizer {
  const json = variables[VARIABLES.authorization];
  const configuration: unknown = json === undefined ? undefined : JSON.parse(json);
  return createAuthorizer(readAuthorization(configuration, VARIABLES.authorization), context);
}
