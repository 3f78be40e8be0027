import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueMicros, Pacer } from '../src/generator/pacer.ts';
import { ScenarioError } from '../src/scenario/fields.ts';
import { findScenario, scenariosOf } from '../src/scenario/find-scenario.ts';
import {
  clientPlan,
  clientsOf,
  clientsOfPart,
  messagesPerStream,
  planOf,
  type Size,
} from '../src/scenario/plan.ts';
import { readScenario } from '../src/scenario/read-scenario.ts';
import { allowedSize, type Situation } from '../src/scenario/size.ts';
import { scenarioOf } from './support.ts';

const FOLDER = new URL('../scenarios', import.meta.url).pathname;
const FULL: Size = { scale: 1, seconds: 10, part: { number: 1, of: 1 } };
const full = (name: string) => planOf(findScenario(name, FOLDER), FULL);

describe('the scenarios', () => {
  it('are named as their files', () => {
    const files = readdirSync(FOLDER).map((name) => name.replace('.json', ''));
    expect(
      scenariosOf(FOLDER)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(files.sort());
  });

  // The table of the Open MQTT Benchmark Suite and the other published cases: clients, in and out a second.
  it.each([
    ['conn-10K-100', 10_000, 0, 0],
    ['fanout-1-1K-1-1K', 1_001, 1, 1_000],
    ['p2p-1K-1K-1K-1K', 2_000, 1_000, 1_000],
    ['sharedsub-1K-5-1K-1K', 1_005, 1_000, 1_000],
    ['conn-1M-5K', 1_000_000, 0, 0],
    ['fanout-5-1000-5-250K', 1_005, 250, 250_000],
    ['p2p-50K-50K-50K-50K', 100_000, 50_000, 50_000],
    ['sharedsub-50K-500-50K-50K', 50_500, 50_000, 50_000],
    ['websocket-2M-100K', 2_000_000, 100_000, 100_000],
    ['idle-5M', 5_000_000, 0, 0],
    ['stream-125K', 125_100, 10_000, 125_000],
    ['stream-250K', 250_100, 10_000, 250_000],
    ['stream-500K', 500_100, 10_000, 500_000],
    ['stream-1M', 1_000_100, 10_000, 1_000_000],
    ['fanout-1-100K', 100_001, 1, 100_000],
    ['gate-10K-10K-QoS2', 20_000, 10_000, 10_000],
  ])('%s at full size: %i clients, %i/s in, %i/s out', (name, clients, publishes, deliveries) => {
    const plan = full(name);
    expect(plan.clients).toBe(clients);
    expect(plan.publishesPerSecond).toBeCloseTo(publishes, 6);
    expect(plan.deliveriesPerSecond).toBeCloseTo(deliveries, 6);
  });

  it('of mqttbs have its parameters: QoS 1 both ways, 16 B, Keep Alive 300 s, clean, 30 minutes', () => {
    const suite = scenariosOf(FOLDER).filter(({ source }) => source.includes('mqttbs'));
    expect(suite).toHaveLength(8);
    for (const scenario of suite) {
      expect(scenario).toMatchObject({ keepAliveSeconds: 300, cleanStart: true, durationSeconds: 1_800 });
      for (const { subscribe, publish } of scenario.groups) {
        expect(subscribe?.qos ?? 1).toBe(1);
        expect(publish?.qos ?? 1).toBe(1);
        expect(publish?.payloadBytes ?? 16).toBe(16);
      }
    }
  });

  it('the basic set is the four that one machine can run', () => {
    const basic = scenariosOf(FOLDER).filter((scenario) => scenario.basic);
    expect(basic.map(({ name }) => name)).toEqual([
      'conn-10K-100',
      'fanout-1-1K-1-1K',
      'p2p-1K-1K-1K-1K',
      'sharedsub-1K-5-1K-1K',
    ]);
  });

  it('one that is not there is answered with those that are', () => {
    expect(() => findScenario('p2p', FOLDER)).toThrow(/no scenario "p2p"; there are conn-10K-100,/);
  });
});

describe('full size on several machines', () => {
  /** Ports of one address towards another, and open files that can be had without asking. */
  const CONNECTIONS_OF_A_MACHINE = 25_300;

  it.each(scenariosOf(FOLDER).map((scenario) => [scenario.name, scenario] as const))(
    '%s states how many parts it needs, and none has more clients than a machine can run',
    (_, scenario) => {
      const [, count = '1'] = /^([\d,]+) parts/.exec(scenario.fullSize) ?? [];
      if (count === '1') expect(scenario.fullSize).toMatch(/^One machine/);
      const of = Number(count.replaceAll(',', ''));
      const parts = Array.from({ length: of }, (_, index) =>
        clientsOfPart(planOf(scenario, { ...FULL, part: { number: index + 1, of } })),
      );
      expect(Math.max(...parts)).toBeLessThanOrEqual(CONNECTIONS_OF_A_MACHINE);
      const clients = scenario.groups.reduce((sum, group) => sum + group.clients, 0);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(clients);
    },
  );
});

describe('a plan', () => {
  it('fills the placeholders in', () => {
    const scenario = scenarioOf({
      groups: [
        { name: 'keys', clients: 3, publish: { topic: 'k/{stream}', topics: 2, perSecond: 1 } },
        {
          name: 'readers',
          clients: 4,
          subscribe: { filters: ['k/{random keys}', 'c/{client}', 'm/{client%3}'] },
        },
      ],
    });
    const plan = planOf(scenario, FULL);
    expect(clientPlan(plan, 1).topics).toEqual(['k/2', 'k/3']);
    expect(clientPlan(plan, 6)).toMatchObject({ member: 3, index: 6 });
    expect(clientPlan(plan, 6).filters.slice(1)).toEqual(['c/3', 'm/0']);
    for (let index = 3; index < 7; index += 1)
      expect(clientPlan(plan, index).filters[0]).toMatch(/^k\/[0-5]$/);
    expect(() => clientPlan(plan, 7)).toThrow(RangeError);
  });

  it('a random topic is the same in every process, and all are chosen about as often', () => {
    const plan = planOf(findScenario('stream-125K', FOLDER), { ...FULL, scale: 0.08 });
    const counts = new Map<string, number>();
    for (const { filters } of clientsOf(plan, 0, 1)) {
      const [filter] = filters;
      if (filter !== undefined) counts.set(filter, (counts.get(filter) ?? 0) + 1);
    }
    // 10,000 clients and 800 keys.
    expect(counts.size).toBeGreaterThan(790);
    expect(Math.max(...counts.values())).toBeLessThan(40);
  });

  it('every client is run by exactly one process of one part', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 5 }),
        (clients, workers, parts) => {
          const groups = [
            { name: 'a', clients },
            { name: 'b', clients: 7 },
          ];
          const seen: number[] = [];
          for (let number = 1; number <= parts; number += 1) {
            const plan = planOf(scenarioOf({ groups }), { ...FULL, part: { number, of: parts } });
            const before = seen.length;
            for (let worker = 0; worker < workers; worker += 1)
              for (const { index } of clientsOf(plan, worker, workers)) seen.push(index);
            expect(seen.length - before).toBe(clientsOfPart(plan));
          }
          expect(seen.sort((a, b) => a - b)).toEqual(
            Array.from({ length: clients + 7 }, (_, index) => index),
          );
        },
      ),
    );
  });

  it('the two clients of a pair are in the same part: they use the same clock', () => {
    const plan = planOf(findScenario('p2p-50K-50K-50K-50K', FOLDER), {
      ...FULL,
      scale: 0.001,
      part: { number: 2, of: 3 },
    });
    const topics = [...clientsOf(plan, 0, 1)].map(({ filters, topics: own }) => filters[0] ?? own[0]);
    for (const topic of topics) expect(topics.filter((each) => each === topic)).toHaveLength(2);
  });

  it('scales what scales, and nothing to nothing', () => {
    const groups = full('fanout-5-1000-5-250K').groups.map(({ clients }) => clients);
    expect(groups).toEqual([1_000, 5]);
    const small = planOf(findScenario('fanout-5-1000-5-250K', FOLDER), { ...FULL, scale: 1e-6 });
    expect(small.groups.map(({ clients }) => clients)).toEqual([1, 5]);
  });

  it('each stream publishes at least once', () => {
    expect(messagesPerStream(planOf(scenarioOf({ groups: [{ name: 'a', clients: 1 }] }), FULL), 0.01)).toBe(
      1,
    );
  });
});

describe('the size that a machine allows', () => {
  const here: Situation = {
    generator: 'fast',
    door: 'node',
    isLocal: true,
    cores: 2,
    processes: 2,
    openFilesMax: 20_000,
    parts: 1,
  };
  const sizeOf = (name: string, situation: Partial<Situation> = {}) =>
    allowedSize(findScenario(name, FOLDER), { ...here, ...situation });

  it('is bound by the connections of a broker on the same machine', () => {
    expect(sizeOf('conn-1M-5K')).toEqual({
      scale: 0.018,
      reason: '1,000,000 connections are more than this machine is asked for',
    });
    expect(sizeOf('conn-1M-5K', { door: 'gateway' }).scale).toBe(0.01);
  });

  it('is bound by messages a second', () => {
    const { scale, reason } = sizeOf('fanout-5-1000-5-250K');
    expect(scale).toBeGreaterThan(0.05);
    expect(scale).toBeLessThan(0.2);
    expect(reason).toBe('250,250 messages a second are more than this machine is asked for');
  });

  it('is bound by open files and ports where the broker is elsewhere', () => {
    expect(sizeOf('idle-5M', { isLocal: false, openFilesMax: 1_024, processes: 4 }).scale).toBe(0.00041);
    expect(sizeOf('idle-5M', { isLocal: false }).scale).toBe(0.0054);
  });

  it('is full if everything fits, or if parts share the load', () => {
    expect(sizeOf('p2p-1K-1K-1K-1K')).toEqual({ scale: 1, reason: undefined });
    expect(sizeOf('conn-1M-5K', { isLocal: false, parts: 40 }).scale).toBe(1);
  });
});

describe('pacing', () => {
  it('streams take turns: a thousand of one message a second are a steady thousand', () => {
    const schedule = { startMicros: 5_000_000, streams: 1_000, perSecond: 1 };
    const due = Array.from({ length: 2_000 }, (_, at) =>
      dueMicros(schedule, at % 1_000, Math.floor(at / 1_000)),
    );
    for (let at = 1; at < due.length; at += 1) expect((due[at] ?? 0) - (due[at - 1] ?? 0)).toBe(1_000);
  });

  it('sends what is due, in order, says when the next is, and then is done', () => {
    const sent: [number, number][] = [];
    const streams = [0, 1].map((place) => ({ place, send: (due: number) => void sent.push([place, due]) }));
    const pacer = new Pacer({ startMicros: 0, streams: 2, perSecond: 10 }, streams, 2);
    expect(pacer.sendDue(-1)).toBe(0);
    expect(pacer.sendDue(60_000)).toBe(100_000);
    expect(sent).toEqual([
      [0, 0],
      [1, 50_000],
    ]);
    expect(pacer.sendDue(1_000_000)).toBeUndefined();
    expect(sent.slice(2)).toEqual([
      [0, 100_000],
      [1, 150_000],
    ]);
    expect(pacer.isDone).toBe(true);
  });
});

describe('a scenario file', () => {
  const base = { name: 'n', title: 't', durationSeconds: 1, groups: [{ name: 'a', clients: 1 }] };

  it.each<[object, RegExp]>([
    [{ ...base, groups: [] }, /a scenario needs a group of clients/],
    [
      { ...base, durationSeconds: 100_000 },
      /"durationSeconds": should be a number from 1 to 86,400, not 100000/,
    ],
    [{ ...base, colour: 'red' }, /scenario has no field "colour"/],
    [{ ...base, mqttVersion: '4' }, /"mqttVersion": is one of 3\.1\.1, 5, not "4"/],
    [{ ...base, groups: [{ name: 'a', clients: 0 }] }, /groups\[0\], "clients"/],
    [{ ...base, groups: [{ name: 'a', clients: 1.5 }] }, /should be a whole number, not 1\.5/],
    [{ ...base, groups: [...base.groups, ...base.groups] }, /each group has a name of its own/],
    [
      {
        ...base,
        groups: [{ name: 'a', clients: 1, publish: { topic: 't', perSecond: 1, payloadBytes: 15 } }],
      },
      /"payloadBytes": should be a number from 16/,
    ],
    [
      { ...base, groups: [{ name: 'a', clients: 1, publish: { topic: 't', perSecond: 1, topics: 2 } }] },
      /several topics of a client are told apart by \{stream\}/,
    ],
    [
      { ...base, groups: [{ name: 'a', clients: 1, subscribe: { filters: ['$share/g/a', 'b'] } }] },
      /a shared subscription stands alone/,
    ],
    [
      { ...base, groups: [{ name: 'a', clients: 1, subscribe: { filters: ['k/{random b}'] } }] },
      /\{random b\} names no group/,
    ],
    [
      { ...base, groups: [{ name: 'a', clients: 1, subscribe: { filters: [] } }] },
      /a list of 1 to 1,000 texts/,
    ],
  ])('%j is refused in a sentence', (json, sentence) => {
    expect(() => readScenario(json)).toThrow(ScenarioError);
    expect(() => readScenario(json)).toThrow(sentence);
  });

  it('reads what it has written', () => {
    for (const scenario of scenariosOf(FOLDER)) {
      expect(readScenario(JSON.parse(JSON.stringify(scenario)))).toEqual(scenario);
      const file = JSON.parse(readFileSync(`${FOLDER}/${scenario.name}.json`, 'utf8'));
      expect(file.name).toBe(scenario.name);
    }
  });
});
