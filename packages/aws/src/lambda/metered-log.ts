import type { Log } from '@apus/broker';
import type { Meter } from '../metrics/meter.ts';
import { METRICS, type MetricName, OPTIONAL_METRICS } from '../metrics/metric-names.ts';

type Fields = Readonly<Record<string, unknown>>;
type Counted = Partial<Record<MetricName, unknown>>;

const dropped = ({ count = 1 }: Fields): Counted => ({ [METRICS.messagesDropped]: count });
const unavailable = ({ count = 1 }: Fields): Counted => ({ [METRICS.unavailable]: count });
const postFailed = (): Counted => ({ [METRICS.postsFailed]: 1 });

/** The events of the log that are metrics too, with what each counts. */
export const COUNTED: Readonly<Record<string, (fields: Fields) => Counted>> = {
  'token-refused': () => ({ [METRICS.tokensRefused]: 1 }),
  'messages-dropped': dropped,
  'conflated-not-sent': dropped,
  'conflated-topics-exceeded': dropped,
  'delayed-message-refused': dropped,
  'will-refused': dropped,
  'gateway-call-failed': postFailed,
  'lost-connections-left': postFailed,
  'lost-connection-failed': postFailed,
  'connection-left-open': postFailed,
  'post-failed': countedPost,
  'fan-out-failed': ({ jobs }) => ({
    [OPTIONAL_METRICS.fanOutJobsFailed]: Array.isArray(jobs) ? jobs.length : 1,
  }),
  'timer-failed': () => ({ [OPTIONAL_METRICS.timersFailed]: 1 }),
  'timer-put-off': unavailable,
  'connect-timeout': () => ({ [METRICS.connectTimeouts]: 1 }),
  unavailable,
  'frame-unavailable': unavailable,
  'hook-unanswered': unavailable,
};

/** A post that was given up. What is no loss is dropped; else its connection is closed, and the client comes back. */
function countedPost({ outcome, isLoss, packets = 1 }: Fields): Counted {
  if (outcome === 'gone') return { [METRICS.postsGone]: 1 };
  return {
    // Each failed call was counted before.
    ...(outcome === 'throttled' && { [METRICS.postsFailed]: 1 }),
    ...(isLoss !== true && { [METRICS.messagesDropped]: packets }),
  };
}

/** A log whose events are counted, whether their level is written or not. */
export function meteredLog(log: Log, meter: Meter): Log {
  const at =
    (level: 'info' | 'warn' | 'error'): Log['warn'] =>
    (event, fields = {}) => {
      const counted = COUNTED[event]?.(fields) ?? {};
      for (const [name, count] of Object.entries(counted)) meter.add(name as MetricName, Number(count));
      log[level](event, fields);
    };
  return {
    debug: (event, fields) => log.debug(event, fields),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}
