import { performance } from 'node:perf_hooks';
import { counter, gauge, type Sample } from '@apus/api';
import type { SparingLog } from '@apus/broker';
import { emqxSamples, type FigureSources } from '@apus/door';
import type { MemoryBudget } from '@apus/store-memory';

export interface PrometheusSources extends FigureSources {
  readonly memory: Pick<MemoryBudget, 'bytes' | 'bytesMax'>;
  readonly startedAtMs: number;
  readonly log: Pick<SparingLog, 'errors'>;
}

/** All numbers of the node: EMQX's by EMQX's names, the process's by Prometheus's names, and a few of our own. */
export function samplesOf(sources: PrometheusSources): readonly Sample[] {
  return [...emqxSamples(sources), ...ownSamples(sources), ...processSamples(sources)];
}

function ownSamples({ links, memory, log }: PrometheusSources): readonly Sample[] {
  return [
    gauge('apus_web_sockets_count', 'WebSockets of the node door.', links.size),
    gauge('apus_memory_bytes', 'Memory of the state of all clients, as it is counted.', memory.bytes),
    gauge('apus_memory_bytes_max', 'Its limit.', memory.bytesMax),
    counter('apus_errors_total', 'Defects and faults that the log reports as errors.', log.errors),
    counter(
      'apus_event_loop_active_seconds_total',
      'Time in which the event loop has worked: its rate is 1 where the process is at its limit.',
      performance.eventLoopUtilization().active / 1000,
    ),
  ];
}

function processSamples({ startedAtMs }: PrometheusSources): readonly Sample[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge('process_start_time_seconds', 'When the node started.', startedAtMs / 1000),
    gauge('process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'User and system time.', (user + system) / 1e6),
  ];
}
