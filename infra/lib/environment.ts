import { FUNCTION_OPTIONS, writeOptions } from '@apus/aws/function-options';
import { VARIABLES } from '@apus/aws/lambda';
import { ruleFiltersJson } from '@apus/bridges/lambda';
import { CONNECT_TIMEOUT_SECONDS } from './defaults.ts';
import type { Resources } from './permissions.ts';
import type { ApusBrokerProps } from './props.ts';
import { quotasOf } from './quotas.ts';

/** The environment variables of every function. */
export function sharedEnvironment(
  { state, fanOut, timers, rules, api }: Resources,
  props: ApusBrokerProps,
  metricsNamespace: string,
): Readonly<Record<string, string>> {
  const { connectTimeoutSeconds = CONNECT_TIMEOUT_SECONDS, logLevel = 'warn' } = props;
  const given = { ...props, connectTimeoutSeconds, logLevel, metricsNamespace, quotas: quotasOf(props) };
  return {
    ...writeOptions(given, FUNCTION_OPTIONS),
    [VARIABLES.tableName]: state.table.tableName,
    [VARIABLES.sessionsTableName]: state.sessionsTable.tableName,
    ...(state.streamsTable !== undefined && {
      [VARIABLES.streamsTableName]: state.streamsTable.tableName,
    }),
    ...(rules !== undefined && {
      [VARIABLES.ruleFilters]: ruleFiltersJson(props.rules ?? []),
      [VARIABLES.ruleQueueUrl]: rules.queue.queueUrl,
    }),
    [VARIABLES.fanOutQueueUrl]: fanOut.queue.queueUrl,
    [VARIABLES.timerQueueUrl]: timers.queue.queueUrl,
    [VARIABLES.managementEndpoint]: api.managementEndpoint,
  };
}
