import type { GivenWorkload } from '@apus/cost';
import type { Figures } from './admin-api.ts';

const HOUR_MS = 3_600_000;

/** The traffic of a shorter time says little about an hour, and nothing about a month. */
export const MEASURED_MS_ENOUGH = 60_000;

/** What a broker has measured: all clients, all messages. */
export interface Measured {
  readonly spanMs: number;
  /** Clients that are connected now. */
  readonly clients: number;
  readonly messages: number;
  readonly receivedPerHour: number;
  readonly sentPerHour: number;
  /** Bytes of all packets from clients for each message of theirs; undefined without messages. */
  readonly bytes: number | undefined;
  readonly qos: 0 | 1 | 2;
}

/** A deployment counts the calendar month in UTC, a node the time since its start. */
export function measuredMs(metrics: Figures, isDeployment: boolean, nowMs: number): number {
  if (!isDeployment) return (metrics.uptime_seconds ?? 0) * 1_000;
  const now = new Date(nowMs);
  return nowMs - Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
}

/** @returns undefined in the first second, and without a message */
export function measured(stats: Figures, metrics: Figures, spanMs: number): Measured | undefined {
  const count = (name: string): number => metrics[name] ?? 0;
  const [received, sent] = [count('messages.received'), count('messages.sent')];
  if (spanMs < 1_000 || received + sent === 0) return undefined;
  const byQos = [0, 1, 2].map((qos) => count(`messages.qos${qos}.received`));
  const mostFrequent = byQos.indexOf(Math.max(...byQos));
  return {
    spanMs,
    clients: Math.max(1, stats['live_connections.count'] ?? 0),
    messages: received + sent,
    receivedPerHour: (received * HOUR_MS) / spanMs,
    sentPerHour: (sent * HOUR_MS) / spanMs,
    bytes: received === 0 ? undefined : Math.round(count('bytes.received') / received),
    qos: mostFrequent === 2 ? 2 : mostFrequent === 1 ? 1 : 0,
  };
}

/** As many clients as are connected, which share the messages in and out. */
export function workloadOf({ clients, receivedPerHour, sentPerHour, bytes, qos }: Measured): GivenWorkload {
  const publishes = receivedPerHour > 0 ? receivedPerHour : sentPerHour;
  return {
    clients,
    publishesPerHour: publishes / clients,
    fanOut: receivedPerHour > 0 ? sentPerHour / receivedPerHour : 1,
    // Without messages of clients the cost model has its own sizes.
    ...(bytes !== undefined && bytes > 0 && { bytes, qos }),
  };
}
