import type { Log } from '@apus/broker';
import type { Meter } from '../metrics/meter.ts';
import { METRICS, type MetricName } from '../metrics/metric-names.ts';

type Fields = Readonly<Record<string, unknown>>;
type Counted = readonly [name: MetricName, count: number];

/** The events of the log that are metrics too, with what each counts. */
const COUNTED: Readonly<Record<string, (fields: Fields) => Counted | undefined>> = {
  'token-refused': () => [METRICS.tokensRefused, 1],
  'messages-dropped': ({ count = 1 }) => [METRICS.messagesDropped, Number(count)],
  'post-failed': ({ outcome, isLoss, packets = 1 }) => {
    if (outcome === 'gone') return [METRICS.postsGone, 1];
    return isLoss === true ? undefined : [METRICS.messagesDropped, Number(packets)];
  },
  'connect-timeout': () => [METRICS.connectTimeouts, 1],
  unavailable: () => [METRICS.unavailable, 1],
  'frame-unavailable': () => [METRICS.unavailable, 1],
  'hook-unanswered': ({ count = 1 }) => [METRICS.unavailable, Number(count)],
};

/** A log whose events are counted, whether their level is written or not. */
export function meteredLog(log: Log, meter: Meter): Log {
  const count = (event: string, fields: Fields = {}) => {
    const counted = COUNTED[event]?.(fields);
    if (counted !== undefined) meter.add(...counted);
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
