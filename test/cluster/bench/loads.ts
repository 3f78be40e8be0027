import { readScenario } from '../../../loadtest/src/scenario/read-scenario.ts';
import type { Qos, Scenario } from '../../../loadtest/src/scenario/scenario.ts';

/** Messages for clients at several processes. The clients of each group connect to the processes in turn. */
export interface Load {
  readonly name: string;
  readonly qos: Qos;
  readonly publishers: number;
  /** Of each publisher. */
  readonly perSecond: number;
  /** Each hears all publishers; of a pair, its own. */
  readonly subscribers: number;
  readonly isPair?: boolean;
  /** A publisher sends the next message when its own has come back: no two of its messages share a write. */
  readonly isLoop?: boolean;
}

const PAYLOAD_BYTES = 100;
const CONNECTS_PER_SECOND = 500;

export const LOADS: readonly Load[] = [
  { name: 'fan-out-qos0-slow', qos: 0, publishers: 5, perSecond: 10, subscribers: 200 },
  { name: 'fan-out-qos1-slow', qos: 1, publishers: 5, perSecond: 10, subscribers: 200 },
  { name: 'fan-out-qos0', qos: 0, publishers: 5, perSecond: 100, subscribers: 200 },
  { name: 'fan-out-qos1', qos: 1, publishers: 5, perSecond: 40, subscribers: 200 },
  { name: 'loop-qos0', qos: 0, publishers: 1, perSecond: 1, subscribers: 200, isLoop: true },
  { name: 'loop-qos1', qos: 1, publishers: 1, perSecond: 1, subscribers: 200, isLoop: true },
  { name: 'pairs-qos1', qos: 1, publishers: 100, perSecond: 10, subscribers: 100, isPair: true },
];

/** So that no process is measured while its code is still being compiled. */
export const WARM_UPS: readonly Load[] = [
  { name: 'warm-up-qos1', qos: 1, publishers: 5, perSecond: 40, subscribers: 100 },
  { name: 'warm-up-pairs', qos: 1, publishers: 100, perSecond: 20, subscribers: 100, isPair: true },
  { name: 'warm-up-qos0', qos: 0, publishers: 5, perSecond: 60, subscribers: 100 },
];

/**
 * @param parts processes that know nothing of each other: each has its part of the subscribers, and all publishers once
 *   more; 1: one broker
 */
export function scenarioOf(load: Load, parts: number): Scenario {
  return readScenario({
    name: load.name,
    title: load.name,
    mqttVersion: '5',
    connectsPerSecond: CONNECTS_PER_SECOND,
    durationSeconds: 10,
    groups: load.isPair === true ? pairs(load, parts) : fanOut(load, parts),
  });
}

function fanOut(
  { qos, publishers, perSecond, subscribers, isLoop = false }: Load,
  parts: number,
): readonly object[] {
  const topic = `f{client%${parts}}/{client}`;
  const publish = {
    topic,
    qos,
    payloadBytes: PAYLOAD_BYTES,
    ...(isLoop ? { window: 1 } : { perSecond }),
  };
  return [
    {
      name: 'subscribers',
      clients: subscribers,
      subscribe: { filters: [`f{client%${parts}}/#`], qos },
    },
    {
      name: 'publishers',
      clients: publishers * parts,
      publish,
      ...(isLoop && { subscribe: { filters: [topic], qos } }),
    },
  ];
}

/** One client more between the two groups puts the ends of a pair at two processes of a cluster. */
function pairs({ qos, publishers, perSecond, subscribers }: Load, parts: number): readonly object[] {
  const publish = { topic: 't/{client}', qos, payloadBytes: PAYLOAD_BYTES, perSecond };
  return [
    { name: 'subscribers', clients: subscribers, subscribe: { filters: ['t/{client}'], qos } },
    ...(parts === 1 ? [{ name: 'idle', clients: 1 }] : []),
    { name: 'publishers', clients: publishers, publish },
  ];
}
