import { ruleFiltersJson } from '@apus/bridges/lambda';
import { VARIABLES } from '@apus/cloud/lambda';
import { CONNECT_TIMEOUT_SECONDS } from './defaults.ts';
import type { Resources } from './permissions.ts';
import type { ApusBrokerProps } from './props.ts';
import { quotasOf } from './quotas.ts';
import { streamsVariable } from './streams.ts';

/** The environment variables of every function. */
export function sharedEnvironment(
  { state, fanOut, timers, rules, api }: Resources,
  props: ApusBrokerProps,
  metricsNamespace: string,
): Readonly<Record<string, string>> {
  const quotas = quotasOf(props);
  return {
    [VARIABLES.tableName]: state.table.tableName,
    [VARIABLES.sessionsTableName]: state.sessionsTable.tableName,
    ...(state.streamsTable !== undefined && {
      [VARIABLES.streamsTableName]: state.streamsTable.tableName,
    }),
    ...((props.streams ?? []).length > 0 && {
      [VARIABLES.streams]: streamsVariable(props.streams ?? []),
    }),
    ...(rules !== undefined && {
      [VARIABLES.ruleFilters]: ruleFiltersJson(props.rules ?? []),
      [VARIABLES.ruleQueueUrl]: rules.queue.queueUrl,
    }),
    ...(props.presence === true && { [VARIABLES.presence]: 'on' }),
    ...(props.otlpUrl !== undefined && { [VARIABLES.otlpUrl]: props.otlpUrl }),
    ...(props.tenantMetrics !== undefined && {
      [VARIABLES.tenantMetrics]: String(props.tenantMetrics),
    }),
    ...(props.usage === true && { [VARIABLES.usage]: 'on' }),
    [VARIABLES.fanOutQueueUrl]: fanOut.queue.queueUrl,
    [VARIABLES.timerQueueUrl]: timers.queue.queueUrl,
    [VARIABLES.managementEndpoint]: api.managementEndpoint,
    [VARIABLES.connectTimeoutSeconds]: String(props.connectTimeoutSeconds ?? CONNECT_TIMEOUT_SECONDS),
    [VARIABLES.logLevel]: props.logLevel ?? 'warn',
    [VARIABLES.metricsNamespace]: metricsNamespace,
    ...(props.allowedOrigins !== undefined && {
      [VARIABLES.allowedOrigins]: props.allowedOrigins.join(','),
    }),
    ...(props.resumeSeconds !== undefined && {
      [VARIABLES.resumeSeconds]: String(props.resumeSeconds),
    }),
    ...(props.cutAfterMs !== undefined && { [VARIABLES.cutAfterMs]: String(props.cutAfterMs) }),
    ...(props.withoutExtensions !== undefined && {
      [VARIABLES.withoutExtensions]: props.withoutExtensions.join(','),
    }),
    ...(quotas !== undefined && { [VARIABLES.quotas]: JSON.stringify(quotas) }),
    ...(props.limits !== undefined && { [VARIABLES.limits]: JSON.stringify(props.limits) }),
  };
}
