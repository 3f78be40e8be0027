import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { startCloud } from '../cloud/start-cloud.ts';
import { DEFAULT_RATES, FaultPlan, type Rates, seededRandom } from './fault-plan.ts';
import { Ledger } from './ledger.ts';

const PUBLISHERS = 3;
const SUBSCRIBERS = 5;
/** Some of the subscribers stand in shards, and are reached by workers. */
const INLINE_SUBSCRIBERS_MAX = 2;
/** How long everything may take to arrive once nothing goes wrong any more. */
const SETTLE_MS = 60_000;
/** A killed worker's batch comes back when this has passed. */
const WORKER_SECONDS = 12;
const RECONNECT_MS = 200;

export interface FaultRunOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly rates?: Rates;
}

export interface FaultRunResult {
  readonly seed: number;
  readonly counts: Ledger['counts'];
  readonly problems: readonly string[];
  readonly deadLetters: number;
  /** What struck, and how often. */
  readonly events: Readonly<Record<string, number>>;
}

/**
 * Clients with persistent sessions publish at QoS 1 and 2, vanish and return, while the cloud goes wrong in every way
 * that the emulators know. Then the faults stop, and everything that was acknowledged has to be there.
 */
export async function runFaults({
  seed,
  seconds,
  rates = DEFAULT_RATES,
}: FaultRunOptions): Promise<FaultRunResult> {
  const random = seededRandom(seed);
  const plan = new FaultPlan(rates, seededRandom(seed + 1));
  const world = await startCloud({
    seed,
    faults: plan.gateway,
    dynamoFaults: plan.store,
    inlineSubscribersMax: INLINE_SUBSCRIBERS_MAX,
    workerSeconds: WORKER_SECONDS,
  });
  const names = Array.from({ length: SUBSCRIBERS }, (_, index) => `subscriber-${index}`);
  const ledger = new Ledger(names);
  const subscribers = await Promise.all(names.map((name) => subscriber(world.url, name, ledger)));
  const publishers = Array.from({ length: PUBLISHERS }, (_, index) =>
    client(world.url, `publisher-${index}`),
  );
  plan.isActive = true;
  const endsAtMs = Date.now() + seconds * 1000;
  const isOver = () => Date.now() >= endsAtMs;
  await Promise.all([
    ...publishers.map((each, index) => publish(each, index, ledger, random, isOver)),
    vanish([...subscribers, ...publishers], random, isOver),
  ]);
  plan.isActive = false;
  const settledByMs = Date.now() + SETTLE_MS;
  while ((ledger.missing.length > 0 || publishers.some(hasUnsent)) && Date.now() < settledByMs)
    await sleep(100);
  const { events } = world.emulator.counters.snapshot();
  const result = {
    seed,
    counts: ledger.counts,
    problems: ledger.problems,
    deadLetters: world.deadLetters(),
    events,
  };
  await Promise.all([...subscribers, ...publishers].map((each) => each.endAsync(true)));
  await world.stop();
  return result;
}

function client(url: string, clientId: string): mqtt.MqttClient {
  const each = connectInTextFrames(mqtt, url, {
    protocolVersion: 5,
    clientId,
    clean: false,
    properties: { sessionExpiryInterval: 3_600 },
    reconnectPeriod: RECONNECT_MS,
  });
  each.on('error', () => {});
  return each;
}

async function subscriber(url: string, name: string, ledger: Ledger): Promise<mqtt.MqttClient> {
  const each = client(url, name);
  each.on('message', (topic, payload) => ledger.received(name, topic, Number(payload.toString())));
  await each.subscribeAsync('faults/#', { qos: 2 });
  return each;
}

async function publish(
  each: mqtt.MqttClient,
  index: number,
  ledger: Ledger,
  random: () => number,
  isOver: () => boolean,
): Promise<void> {
  for (let number = 0; !isOver(); number += 1) {
    for (const qos of [1, 2] as const) {
      const topic = `faults/${index}/${qos}`;
      ledger.published({ topic, qos, number });
      // mqtt.js keeps it until it is acknowledged, over as many connections as that takes; a refusal is an error.
      each.publish(topic, String(number), { qos }, (error) => {
        if (error === undefined || error === null) ledger.acknowledged(topic, number);
      });
    }
    await sleep(20 + random() * 200);
  }
}

/** Cuts TCP connections, as networks do. */
async function vanish(
  clients: readonly mqtt.MqttClient[],
  random: () => number,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(500 + random() * 1_500);
    const victim = clients[Math.floor(random() * clients.length)];
    if (victim?.connected) victim.stream.destroy();
  }
}

function hasUnsent(each: mqtt.MqttClient): boolean {
  return each.queue.length > 0 || Object.keys(each.outgoing).length > 0;
}
