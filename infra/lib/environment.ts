import { VARIABLES } from '@apus/cloud/lambda';
import { CONNECT_TIMEOUT_SECONDS, DELIVERIES_PER_IDENTITY_PER_MINUTE_MAX } from './defaults.ts';
import type { Resources } from './permissions.ts';
import type { ApusBrokerProps } from './props.ts';

/** What every function reads from its environment. */
export function sharedEnvironment(
  { state, fanOut, timers, api }: Resources,
  props: ApusBrokerProps,
  metricsNamespace: string,
): Readonly<Record<string, string>> {
  return {
    [VARIABLES.tableName]: state.table.tableName,
    [VARIABLES.fanOutQueueUrl]: fanOut.queue.queueUrl,
    [VARIABLES.timerQueueUrl]: timers.queue.queueUrl,
    [VARIABLES.managementEndpoint]: api.managementEndpoint,
    [VARIABLES.connectTimeoutSeconds]: String(props.connectTimeoutSeconds ?? CONNECT_TIMEOUT_SECONDS),
    [VARIABLES.deliveriesPerMinuteMax]: String(
      props.deliveriesPerIdentityPerMinuteMax ?? DELIVERIES_PER_IDENTITY_PER_MINUTE_MAX,
    ),
    [VARIABLES.logLevel]: props.logLevel ?? 'warn',
    [VARIABLES.metricsNamespace]: metricsNamespace,
    ...(props.limits !== undefined && { [VARIABLES.limits]: JSON.stringify(props.limits) }),
  };
}
