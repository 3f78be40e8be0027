import { DynamoConflatedGroups } from '@apus/store-dynamodb/testing';
import type { IClientOptions, IPublishPacket } from 'mqtt';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FAULT_KINDS, FaultPlan, type Rates } from '../faults/fault-plan.ts';
import { sized } from '../support/runs.ts';
import { Program } from './program.ts';
import { VirtualStage } from './virtual-stage.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 300_000;
/** How long messages come while handlers die behind a tick. */
const PUBLISH_SECONDS = sized(90, 300);

const STREAMS = [
  { name: 'prices', topicFilter: 'prices/#', snapshot: true },
  { name: 'chat', topicFilter: 'chat/#' },
];

const KEPT = { clean: false, properties: { sessionExpiryInterval: 86_400 } };

const stage = new VirtualStage(13, { streams: STREAMS });
const { programs } = stage;

interface Suback {
  readonly granted: readonly number[];
  readonly properties?: {
    readonly userProperties?: Readonly<Record<string, string>>;
    readonly reasonString?: string;
  };
}

/** A program, and the numbers and positions that have come on each topic. */
class Client extends Program {
  readonly positions: [topic: string, number: number][] = [];

  constructor(name: string, options: IClientOptions = {}) {
    // Otherwise mqtt.js leaves out a filter that it has subscribed to.
    super(stage.world.emulator, name, { resubscribe: false, ...options });
    programs.push(this);
    this.mqtt.on('message', (topic, _payload, { properties }: IPublishPacket) => {
      const { 'stream-position': position } = { ...properties?.userProperties };
      this.positions.push([topic, Number(String(position).split('-')[1])]);
    });
  }

  numbersOf(topic: string): number[] {
    return this.positions.flatMap(([of, number]) => (of === topic ? number : []));
  }

  /** The fields of a SUBACK that the tests read. */
  async subscribe(filter: string, userProperties?: Record<string, string>) {
    return await new Promise<{ code: number; conflateMs: string | undefined; reason: string | undefined }>(
      (resolve) => {
        const heard = (packet: { readonly cmd?: string }): void => {
          if (packet.cmd !== 'suback') return;
          this.mqtt.off('packetreceive', heard);
          const { granted, properties } = packet as unknown as Suback;
          const { userProperties: said, reasonString: reason } = { ...properties };
          resolve({ code: Number(granted[0]), conflateMs: said?.['conflate-ms'], reason });
        };
        this.mqtt.on('packetreceive', heard);
        this.mqtt.subscribe(
          filter,
          { qos: 0, ...(userProperties && { properties: { userProperties } }) },
          () => {},
        );
      },
    );
  }
}

const seconds = (count: number) => stage.seconds(count);

/** In virtual time: what the program waits for comes meanwhile. */
async function during<T>(waited: Promise<T>): Promise<T> {
  const [result] = await Promise.all([waited, seconds(6)]);
  return result;
}

async function connected(name: string, options: IClientOptions = {}): Promise<Client> {
  const client = new Client(name, options);
  await seconds(1);
  return client;
}

/** Publishes to the topics one after the other, some messages a second. Returns how many to each. */
async function publishFor(
  publisher: Client,
  durationMs: number,
  topics: readonly string[],
  everyMs = 100,
): Promise<number> {
  let count = 0;
  for (; count * everyMs < durationMs; count += 1) {
    for (const topic of topics) publisher.mqtt.publish(topic, String(count), { qos: 1 });
    await stage.time.advance(everyMs);
  }
  return count;
}

const TOPICS = ['prices/a', 'prices/b'];

/** The number of the topic's last message, from its history. */
async function newestOf(topic: string): Promise<number | undefined> {
  const reader = await connected(`of-${topic.replace('/', '-')}`);
  await during(reader.subscribe(topic, { rewind: '1' }));
  return reader.numbersOf(topic).at(-1);
}

describe('conflate-ms at a deployment', () => {
  it(
    'sends each subscriber the newest message of each topic once in the interval that SUBACK says',
    async () => {
      await stage.start();
      const plain = await connected('plain');
      await during(plain.subscribe('prices/+'));
      const conflated = [await connected('ephemeral'), await connected('kept', KEPT)];
      for (const each of conflated) {
        const suback = await during(each.subscribe('prices/+', { 'conflate-ms': '1500' }));
        expect(suback).toEqual({ code: 0, conflateMs: '2000', reason: undefined });
      }
      const reading = await connected('reading');
      const suback = await during(reading.subscribe('$stream/prices', { 'conflate-ms': '5000' }));
      expect(suback).toEqual({ code: 0, conflateMs: '5000', reason: undefined });
      const publisher = await connected('publisher');
      const count = await publishFor(publisher, 20_000, TOPICS);
      await seconds(20);
      for (const topic of TOPICS) {
        expect(plain.numbersOf(topic)).toHaveLength(count);
        for (const [client, most] of [
          [conflated[0], 11],
          [conflated[1], 11],
          [reading, 5],
        ] as const) {
          const numbers = client?.numbersOf(topic) ?? [];
          expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
          expect(new Set(numbers).size).toBe(numbers.length);
          expect(numbers.length).toBeGreaterThan(most / 2);
          expect(numbers.length).toBeLessThanOrEqual(most);
          expect(numbers.at(-1)).toBe(count);
        }
      }
    },
    TIMEOUT_MS,
  );

  it(
    'is over with UNSUBSCRIBE, and with a SUBSCRIBE without it, and then costs a publisher nothing',
    async () => {
      const ticks: string[] = [];
      await stage.start({
        alterations: {
          dynamo: (client) => ({
            send: ((command: { readonly input: object }) => {
              const text = JSON.stringify(command.input);
              if (text.includes('"~1000"')) ticks.push(text);
              return client.send(command as never);
            }) as typeof client.send,
          }),
        },
      });
      const [one, other] = [await connected('one'), await connected('other')];
      const publisher = await connected('publisher');
      await during(one.subscribe('prices/a'));
      for (const client of [one, other])
        await during(client.subscribe('prices/a', { 'conflate-ms': '1000' }));
      await publishFor(publisher, 1_000, ['prices/a']);
      await seconds(10);
      expect([one.numbersOf('prices/a').at(-1), other.numbersOf('prices/a').at(-1)]).toEqual([10, 10]);
      // It was plain before, and the plain one is over.
      expect(one.numbersOf('prices/a').length).toBeLessThan(5);
      one.mqtt.unsubscribe('prices/a');
      await during(other.subscribe('prices/a'));
      const before = one.positions.length;
      await publishFor(publisher, 1_000, ['prices/a']);
      await seconds(10);
      expect(one.positions).toHaveLength(before);
      expect(other.numbersOf('prices/a').slice(-10)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
      ticks.length = 0;
      await publishFor(publisher, 1_000, ['prices/a']);
      await seconds(10);
      expect(ticks).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'goes along where a session moves, and brings the last message while handlers die, are late, and answers are lost',
    async () => {
      const rates = {
        ...NO_FAULTS,
        'kill-at-checkpoint': 0.01,
        'late-invocation': 0.05,
        'store-slow': 0.02,
        'store-answer-lost': 0.02,
        'queue-redelivers': 0.05,
      };
      const plan = new FaultPlan({ seed: 14, rates, lateInvocationMsMax: 1_500, onStrike: () => {} });
      await stage.start({ connectionSeconds: () => 1, faults: plan.gateway, dynamoFaults: plan.store });
      const readers = [await connected('ephemeral'), await connected('kept', KEPT)];
      for (const each of readers) await during(each.subscribe('prices/+', { 'conflate-ms': '1000' }));
      const publisher = await connected('publisher');
      plan.isActive = true;
      await publishFor(publisher, 20_000, TOPICS, 190);
      plan.isActive = false;
      // A worker that dies with a job is repeated, and a claim of a process that died is over.
      await seconds(180);
      for (const topic of TOPICS) {
        const newest = await newestOf(topic);
        expect(newest).toBeGreaterThan(100);
        for (const each of readers) expect(each.numbersOf(topic).at(-1), topic).toBe(newest);
      }
      for (const topic of TOPICS) publisher.mqtt.publish(topic, 'last', { qos: 1 });
      await seconds(60);
      for (const each of readers) {
        expect(each.told('moved')).toBeGreaterThan(2);
        for (const topic of TOPICS) expect(each.of(topic).at(-1)).toBe('last');
      }
      stage.world.failures.length = 0;
    },
    TIMEOUT_MS,
  );

  it(
    'has one tick at a time, however often a handler dies behind the next one',
    async () => {
      await stage.start();
      const reader = await connected('reader');
      await during(reader.subscribe('prices/+', { 'conflate-ms': '1000' }));
      const publisher = await connected('publisher');
      const { armed } = DynamoConflatedGroups.prototype;
      let calls = 0;
      const dying = vi.spyOn(DynamoConflatedGroups.prototype, 'armed').mockImplementation(async function (
        this: DynamoConflatedGroups,
        ...call
      ) {
        await armed.apply(this, call);
        calls += 1;
        // The first is armed by the publisher, the others by ticks.
        if (calls % 3 === 0) throw new Error('this handler has died');
      });
      onTestFinished(() => dying.mockRestore());
      await publishFor(publisher, PUBLISH_SECONDS * 1_000, ['prices/a'], 500);
      // The interval, and what the queue needs.
      expect(calls).toBeGreaterThan(PUBLISH_SECONDS / 3);
      expect(calls).toBeLessThanOrEqual(PUBLISH_SECONDS);
      await seconds(180);
      expect(calls).toBeLessThanOrEqual(PUBLISH_SECONDS + 2);
      expect(reader.numbersOf('prices/a').at(-1)).toBe(await newestOf('prices/a'));
      expect(stage.world.failures.length).toBeGreaterThan(0);
      stage.world.failures.length = 0;
    },
    TIMEOUT_MS,
  );

  it.each([
    ['prices/a', '999', /1000 milliseconds or more/],
    ['prices/a', '900001', /at most 900000/],
    ['prices/a', 'soon', /from 1 to 3600000/],
    ['chat/a', '1000', /the last value of each key/],
    ['elsewhere', '1000', /the last value of each key/],
    ['#', '1000', /the last value of each key/],
  ])(
    'is refused with a reason for %s and %s',
    async (filter, conflateMs, reason) => {
      await stage.start();
      const client = await connected('client');
      const suback = await during(client.subscribe(filter, { 'conflate-ms': conflateMs }));
      expect(suback).toMatchObject({ code: 0x83, reason: expect.stringMatching(reason) });
    },
    TIMEOUT_MS,
  );
});

const NO_FAULTS = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Rates;
