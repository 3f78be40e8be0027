import { performance } from 'node:perf_hooks';
import { METRICS, STATS } from '@apus/api';
import type { MemoryBudget } from '@apus/store-memory';
import { NODE_NAME } from '../api/context.ts';
import { type FigureSources, metricsOf, statsOf } from './figures.ts';

/** Prometheus's text format, version 0.0.4. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface PrometheusSources extends FigureSources {
  readonly memory: Pick<MemoryBudget, 'bytes' | 'bytesMax'>;
  readonly startedAtMs: number;
}

export interface Sample {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly value: number;
}

/** The figures of one process. */
export interface ProcessSamples {
  readonly node: string;
  /** In the same order at every process. */
  readonly samples: readonly Sample[];
}

/** Where there are several processes, the label `node` tells them apart. */
export function prometheusText(processes: readonly ProcessSamples[]): string {
  const [first] = processes;
  if (first === undefined) return '';
  return first.samples.map(({ name }, index) => textOf(name, index, processes)).join('');
}

/** All figures of the node: EMQX's by EMQX's names, those of the process by Prometheus's, and a few of our own. */
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

/** `messages.received` is `emqx_messages_received`. One name is not made by this rule. */
export function emqxName(name: string): string {
  return name === 'packets.connect.received' ? 'emqx_packets_connect' : `emqx_${name.replaceAll('.', '_')}`;
}

function ownSamples({ links, memory }: PrometheusSources): readonly Sample[] {
  return [
    gauge('apus_web_sockets_count', 'WebSockets of the node door.', links.size),
    gauge('apus_memory_bytes', 'Memory of the state of all clients, as it is counted.', memory.bytes),
    gauge('apus_memory_bytes_max', 'Its limit.', memory.bytesMax),
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

function gauge(name: string, help: string, value: number): Sample {
  return { name, type: 'gauge', help, value };
}

function counter(name: string, help: string, value: number): Sample {
  return { name, type: 'counter', help, value };
}

function textOf(name: string, index: number, processes: readonly ProcessSamples[]): string {
  const lines = processes.flatMap(({ node, samples }) => {
    const sample = samples[index];
    if (sample?.name !== name) return [];
    const label = node === NODE_NAME ? '' : `{node="${node}"}`;
    return [`${name}${label} ${numberOf(sample.value)}\n`];
  });
  const { help, type } = processes[0]?.samples[index] ?? {};
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function numberOf(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '+Inf' : String(value);
}
