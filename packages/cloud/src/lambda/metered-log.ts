import type { Log } from '@apus/broker';
import type { FunctionMetrics } from './function-metrics.ts';
import { METRICS, type MetricName } from './metric-names.ts';

type Fields = Readonly<Record<string, unknown>> | undefined;

/** The events of the log that are metrics too, with what each counts. */
const COUNTED: Readonly<
  Record<string, (fields: Fields) => readonly [name: MetricName, count: number] | undefined>
> = {
  'token-refused': () => [METRICS.tokensRefused, 1],
  'messages-dropped': (fields) => [METRICS.messagesDropped, Number(fields?.count ?? 1)],
  'post-failed': (fields) => postFailed(fields?.outcome),
};

function postFailed(outcome: unknown): readonly [MetricName, number] | undefined {
  if (outcome === 'gone') return [METRICS.postsGone, 1];
  return outcome === 'throttled' ? [METRICS.postsThrottled, 1] : undefined;
}

/** A log whose events are counted, whether their level is written or not. */
export function meteredLog(log: Log, metrics: FunctionMetrics): Log {
  const count = (event: string, fields: Fields) => {
    const counted = COUNTED[event]?.(fields);
    if (counted !== undefined) metrics.add(...counted);
  };
  return {
    debug: (event, fields) => log.debug(event, fields),
    info: (event, fields) => {
      count(event, fields);
      log.info(event, fields);
    },
    warn: (event, fields) => {
      count(event, fields);
      log.warn(event, fields);
    },
    error: (event, fields) => log.error(event, fields),
  };
}
