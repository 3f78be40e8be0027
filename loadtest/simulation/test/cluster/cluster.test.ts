import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { billOfCluster } from '../../src/cluster/bill.ts';
import { CASES } from '../../src/cluster/constants.ts';
import { othersReached, sizeCluster } from '../../src/cluster/model.ts';
import { clusterReport, predictCluster } from '../../src/cluster/report.ts';
import { clusterFrom } from '../../src/cluster/workload.ts';

const PAGE = readFileSync(new URL('../../../../loadtest/results/simulation.md', import.meta.url), 'utf8');
const textOf = (name: string) => readFileSync(new URL(`../../workloads/${name}`, import.meta.url), 'utf8');
const PAIRS = clusterFrom(JSON.parse(textOf('cluster-pairs.json')));

describe('loadtest/results/simulation.md', () => {
  it.each(['cluster-pairs.json', 'cluster-million-users.json'])(
    'has the output of the command for %s',
    (name) => {
      const [, rest = ''] = PAGE.split(`<!-- ${name}: begin -->\n`);
      const [table = ''] = rest.split(`\n<!-- ${name}: end -->`);
      expect(table).toBe(clusterReport(clusterFrom(JSON.parse(textOf(name)))));
    },
  );
});

describe('the model of a cluster', () => {
  it('counts the other processes that have a subscriber', () => {
    expect(othersReached(1, 4)).toBeCloseTo(3 / 4);
    expect(othersReached(1_000_000, 4)).toBeCloseTo(3);
    // Three subscribers at two places: the other place is empty once in eight.
    expect(othersReached(3, 2)).toBeCloseTo(7 / 8);
  });

  it('needs more processes for more connections, and for more messages', () => {
    const size = (changes: object) => sizeCluster({ ...PAIRS, ...changes }, 'usual')?.processes ?? 0;
    expect(size({})).toBe(34);
    expect(size({ connectionsPerProcessMax: 20_000 })).toBe(100);
    expect(size({ messagesPerSecond: 200_000 })).toBeGreaterThan(40);
    expect(size({ messagesPerSecond: 200_000, coreSpeed: 2 })).toBe(34);
    expect(size({ connections: 10, filters: 10, messagesPerSecond: 1 })).toBe(2);
  });

  it('reports that no number of processes carries the workload', () => {
    expect(sizeCluster({ ...PAIRS, messagesPerSecond: 10_000_000 }, 'usual')).toBeUndefined();
    expect(clusterReport({ ...PAIRS, messagesPerSecond: 10_000_000 })).toContain('no number of processes');
  });

  it('adds up one process by hand', () => {
    const workload = { ...PAIRS, connections: 20_000, filters: 10_000, messagesPerSecond: 1_000 };
    const found = sizeCluster(workload, 'usual');
    expect(found?.processes).toBe(2);
    // Half of the messages cross to the other process; a ping of each client in 300 s.
    const micros = 1_000 * (44 + 0.5 * 66) + (20_000 / 300) * 15;
    expect(found?.busy).toBeCloseTo(micros / 1e6 / 2);
    expect(found?.engine.busy).toBeCloseTo((500 * 5.1) / 1e6);
    // 10,000 connections in each, and half of the filters are the other's.
    expect(found?.bytes).toBeCloseTo(111e6 + 10_000 * 4_200 + 5_000 * 600);
    // The other one takes 10,000 clients, each with half a filter, in what it has left of its core.
    const back = 10_000 * (480 + 0.5 * (131 + 9.5));
    expect(found?.backSeconds).toBeCloseTo(5 + back / 1e6 / (1 - (found?.busy ?? 0)));
  });

  it('needs more engines if one is too busy, or writes too much', () => {
    const engines = (changes: object) => sizeCluster({ ...PAIRS, ...changes }, 'least')?.engine.count;
    expect(engines({})).toBe(1);
    expect(engines({ engineShareMax: 0.3 })).toBe(2);
    expect(engines({ payloadBytes: 2_000 })).toBe(2);
  });

  it('bills machines, engine, load balancer and data', () => {
    const found = sizeCluster(PAIRS, 'usual');
    if (found === undefined) throw new Error('it is carried');
    const bill = billOfCluster(PAIRS, found);
    expect(bill.loadBalancer.units).toBeCloseTo(2_000_000 / 3_000);
    expect(bill.loadBalancer.usd).toBeCloseTo(720 * (0.0225 + 0.006 * (2_000_000 / 3_000)));
    const parts = [bill.engine.usd, bill.loadBalancer.usd, bill.zonesUsd, bill.outUsd];
    const least = Math.min(...bill.machines.map(({ usd }) => usd));
    expect(bill.usd).toBeCloseTo(parts.reduce((sum, each) => sum + each, least));
  });

  it('is dearer, case by case, and never faster back than the lease', () => {
    const prediction = predictCluster(PAIRS);
    const dollars = CASES.map((bounds) => prediction[bounds]?.bill.usd ?? 0);
    expect(dollars).toEqual([...dollars].sort((one, other) => one - other));
    for (const bounds of CASES) expect(prediction[bounds]?.backSeconds).toBeGreaterThan(5);
  });

  it('refuses invalid values, and names the range', () => {
    expect(() => clusterFrom({ qos: 2 })).toThrow('"qos" is a whole number from 0 to 1, not 2');
    expect(() => clusterFrom({ rate: 1 })).toThrow('"rate" is no field of a workload');
  });
});
