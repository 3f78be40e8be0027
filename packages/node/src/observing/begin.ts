import { DROPPED_FIGURES, type MonitorSample } from '@apus/api';
import { type FigureSources, metricsOf, statsOf } from '@apus/door';
import type { NodeLimits } from '../limits.ts';
import type { Gauges } from './alarms.ts';
import type { Observer } from './observer.ts';

interface Observable extends Omit<FigureSources, 'stores' | 'payloads'> {
  readonly observer: Observer;
  readonly opened: Pick<FigureSources, 'stores'>;
  readonly memory: { readonly bytes: number; readonly bytesMax: number };
}

/** Lets the observer read the counts of a node. */
export function beginObserving(parts: Observable, { limits }: { readonly limits: NodeLimits }): void {
  const { observer, opened, links, meter, drops, memory } = parts;
  const sources = { stores: opened.stores, links, meter, drops, payloads: undefined };
  observer.begin({
    drops,
    figures: () => figuresOf(sources),
    gauges: (): Gauges => ({
      memoryBytes: memory.bytes,
      memoryBytesMax: memory.bytesMax,
      connections: links.size,
      connectionsMax: limits.connectionsMax,
      refusedCredentials: meter.refusedCredentials,
    }),
  });
}

function figuresOf(sources: FigureSources): Omit<MonitorSample, 'time_stamp'> {
  const stats = statsOf(sources);
  const metrics = metricsOf(sources);
  const dropped = DROPPED_FIGURES.map((name) => [name, metrics[`delivery.${name}`]] as const);
  return {
    live_connections: stats['live_connections.count'],
    connections: stats['connections.count'],
    subscriptions: stats['subscriptions.count'],
    retained: stats['retained.count'],
    received: metrics['messages.received'],
    sent: metrics['messages.sent'],
    received_bytes: metrics['bytes.received'],
    sent_bytes: metrics['bytes.sent'],
    connects: metrics['packets.connect.received'],
    refused: metrics['packets.connack.error'],
    dropped: metrics['delivery.dropped'],
    ...(Object.fromEntries(dropped) as Record<(typeof DROPPED_FIGURES)[number], number>),
  };
}
