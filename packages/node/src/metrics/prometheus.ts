import { performance } from 'node:perf_hooks';
import { counter, emqxName, gauge, METRICS, type Sample, STATS } from '@apus/api';
import type { SparingLog } from '@apus/broker';
import type { MemoryBudget } from '@apus/store-memory';
import { type FigureSources, metricsOf, statsOf } from './figures.ts';

export interface PrometheusSources extends FigureSources {
  readonly memory: Pick<MemoryBudget, 'bytes' | 'bytesMax'>;
  readonly startedAtMs: number;
  readonly log: Pick<SparingLog, 'errors'>;
}

/** All numbers of the node: EMQX's by EMQX's names, the process's by Prometheus's names, and a few of our own. */
export function samplesOf(sources: PrometheusSources): readonly Sample[] {
  return [
    ...emqx('gauge', statsOf(sources), STATS),
    ...emqx('counter', metricsOf(sources), METRICS),
    ...ownSamples(sources),
    ...processSamples(sources),
  ];
}

function emqx<Name extends string>(
  type: Sample['type'],
  figures: Readonly<Record<Name, number>>,
  helps: Readonly<Record<Name, string>>,
): readonly Sample[] {
  const names = Object.keys(helps) as Name[];
  return names.map((name) => ({ name: emqxName(name), type, help: helps[name], value: figures[name] }));
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
