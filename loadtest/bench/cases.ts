import { readScenario } from '../src/scenario/read-scenario.ts';
import type { Qos, Scenario } from '../src/scenario/scenario.ts';
import type { WireName } from './wires.ts';

/** The kind of a case: it determines the compared figure, and which direction is better. */
export type CaseKind = 'handshakes' | 'idle' | 'paced' | 'saturated';

/** One row of the comparison: a scenario that every broker runs. */
export interface Case {
  readonly name: string;
  readonly title: string;
  readonly kind: CaseKind;
  readonly needsSharedSubscriptions: boolean;
  readonly scenario: Scenario;
}

/** A case over one wire: each wire of a broker is a process of its own. */
export interface WiredCase extends Case {
  readonly wire: WireName;
}

/** The payload size of the Open MQTT Benchmark Suite, which is the size of our header. */
const PAYLOAD_BYTES = 16;

/** The generator shares two cores with the broker: with a higher rate the case would measure the generator. */
export const CONNECTS_PER_SECOND = 1_000;

/** Open files of a process are 20,000 on small machines, of which generator and broker need one each. */
const IDLE_CONNECTIONS = 10_000;

/** Handshakes: enough for two seconds, and under way enough to keep a broker busy. */
const HANDSHAKES = 5_000;
const HANDSHAKES_WINDOW = 50;
/** Never reached: the window sets the pace. */
const HANDSHAKES_PER_SECOND = 100_000;

/**
 * Messages in flight in a closed loop: few enough for any broker's default limits (Mosquitto has 20 of QoS 1 and 2 in
 * flight to a client), and enough to keep it busy.
 */
const FAN_OUT_WINDOW = 10;
const PAIR_WINDOW = 4;
const PAIRS = 100;
const TOPICS = 5;

/** Every case at its full size: `scale` makes smaller ones. MQTT 3.1.1, which all of the brokers speak. */
export const CASES: readonly Case[] = [
  idle(),
  pacedPairs('p2p', 1),
  pacedPairs('p2p-10', 10),
  ...([0, 1, 2] as const).map(saturatedPairs),
  fanIn(),
  fanOut(200, 0),
  fanOut(200, 1),
  fanOut(200, 2),
  fanOut(1_000, 0),
  fanOutOfTopics(200, 1),
  fanOutOfTopics(1_000, 0),
  fanOutOfTopics(1_000, 1),
  shared(),
];

/** Only for those who ask for it. */
export const HANDSHAKES_CASE: Case = handshakes();

/** Runs before the others, so that no broker is compared while its code is still being compiled. */
export const WARM_UP: readonly Case[] = [
  { ...saturatedPairs(1), name: 'warm-up-pairs', title: 'Warm-up' },
  { ...fanOut(50, 1), name: 'warm-up-fan-out', title: 'Warm-up' },
];

/** Each case over each of the wires, one after the other, so that they are measured at about the same time. */
export function casesOver(cases: readonly Case[], wires: readonly WireName[]): readonly WiredCase[] {
  return cases.flatMap((each) => wires.map((wire) => ({ ...each, wire })));
}

function handshakes(): Case {
  const title = `${count(HANDSHAKES)} handshakes, ${HANDSHAKES_WINDOW} under way, as fast as it goes`;
  const { scenario, ...rest } = caseOf('handshakes', title, 'handshakes', [
    { name: 'connections', clients: HANDSHAKES },
  ]);
  const pace = { connectsPerSecond: HANDSHAKES_PER_SECOND, connectWindow: HANDSHAKES_WINDOW };
  return { ...rest, scenario: { ...scenario, ...pace } };
}

function idle(): Case {
  return caseOf(
    'idle',
    `${count(IDLE_CONNECTIONS)} connections at ${count(CONNECTS_PER_SECOND)}/s, then idle`,
    'idle',
    [{ name: 'connections', clients: IDLE_CONNECTIONS }],
  );
}

function pacedPairs(name: string, perSecond: number): Case {
  const title = `1,000 publishers to 1,000 subscribers, ${perSecond}/s each, QoS 1`;
  return caseOf(name, title, 'paced', [
    { name: 'subscribers', clients: 1_000, subscribe: { filters: ['test/{client}'], qos: 1 } },
    {
      name: 'publishers',
      clients: 1_000,
      publish: { topic: 'test/{client}', qos: 1, payloadBytes: PAYLOAD_BYTES, perSecond },
    },
  ]);
}

function saturatedPairs(qos: Qos): Case {
  return caseOf(
    `pairs-qos${qos}`,
    `${PAIRS} clients on a topic each, QoS ${qos}, as fast as it goes`,
    'saturated',
    [
      {
        name: 'pairs',
        clients: PAIRS,
        subscribe: { filters: ['pair/{client}'], qos },
        publish: { topic: 'pair/{client}', qos, payloadBytes: PAYLOAD_BYTES, window: PAIR_WINDOW },
      },
    ],
  );
}

function fanIn(): Case {
  return caseOf('fan-in', '500 publishers to one subscriber, 5/s each, QoS 1', 'paced', [
    { name: 'subscriber', clients: 1, scales: false, subscribe: { filters: ['in/+'], qos: 1 } },
    {
      name: 'publishers',
      clients: 500,
      publish: { topic: 'in/{client}', qos: 1, payloadBytes: PAYLOAD_BYTES, perSecond: 5 },
    },
  ]);
}

/** The publisher is one of the subscribers: it sends the next message when it has received its own. */
function fanOut(subscribers: number, qos: Qos): Case {
  const title = `1 to ${count(subscribers)}, QoS ${qos}, as fast as it goes`;
  return caseOf(`fan-out-${subscribers}-qos${qos}`, title, 'saturated', [
    { name: 'subscribers', clients: subscribers - 1, subscribe: { filters: ['news'], qos } },
    {
      name: 'publisher',
      clients: 1,
      scales: false,
      subscribe: { filters: ['news'], qos },
      publish: { topic: 'news', qos, payloadBytes: PAYLOAD_BYTES, window: FAN_OUT_WINDOW },
    },
  ]);
}

/** The same with five publishers, each on its own topic, to which all the others subscribe. */
function fanOutOfTopics(subscribers: number, qos: Qos): Case {
  const title = `${TOPICS} topics to ${count(subscribers)}, QoS ${qos}, as fast as it goes`;
  const publishing = { qos, payloadBytes: PAYLOAD_BYTES, window: FAN_OUT_WINDOW };
  return caseOf(`topics-${subscribers}-qos${qos}`, title, 'saturated', [
    { name: 'subscribers', clients: subscribers, subscribe: { filters: ['topics/+'], qos } },
    {
      name: 'publishers',
      clients: TOPICS,
      scales: false,
      subscribe: { filters: ['topics/{client}'], qos },
      publish: { topic: 'topics/{client}', ...publishing },
    },
  ]);
}

function shared(): Case {
  const groups = [
    {
      name: 'subscribers',
      clients: 5,
      scales: false,
      subscribe: { filters: ['$share/perf/test/#'], qos: 1 },
    },
    {
      name: 'publishers',
      clients: 1_000,
      publish: { topic: 'test/{client}', qos: 1, payloadBytes: PAYLOAD_BYTES, perSecond: 1 },
    },
  ];
  const title = '1,000 publishers to a share group of 5, 1/s each, QoS 1';
  return { ...caseOf('shared', title, 'paced', groups), needsSharedSubscriptions: true };
}

function caseOf(name: string, title: string, kind: CaseKind, groups: readonly object[]): Case {
  const scenario = readScenario({
    name,
    title,
    source: 'npm run bench',
    mqttVersion: '3.1.1',
    connectsPerSecond: CONNECTS_PER_SECOND,
    durationSeconds: 10,
    groups,
  });
  return { name, title, kind, needsSharedSubscriptions: false, scenario };
}

function count(value: number): string {
  return value.toLocaleString('en');
}
