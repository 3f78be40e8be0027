import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { onLinux } from '../../../test/support/skips.ts';
import { localWorker } from '../../src/generator/worker-handles.ts';
import { clientPlan, planOf } from '../../src/scenario/plan.ts';
import { brokerForTest } from '../../test/support.ts';
import { BROKERS } from '../brokers/index.ts';
import { isSlow } from '../brokers/mosquitto.ts';
import { CASES, type Case, casesOver, HANDSHAKES_CASE } from '../cases.ts';
import { measureCase, type Sample } from '../measure-case.ts';
import { optionsFrom } from '../options.ts';
import { cpuSecondsOf, processUse, residentBytesOf } from '../process-use.ts';
import { COMPARED, Results } from '../results.ts';
import { spreadOf } from '../statistics.ts';
import { SUITE } from '../suite.ts';
import { tablesText } from '../tables.ts';
import type { WireName } from '../wires.ts';

const SAMPLE: Sample = {
  ...{ expected: 1_000, received: 1_000, lost: 0, inDoubt: 0, duplicates: 0, outOfOrder: 0 },
  ...{ connected: 10, connectionsPerSecond: 900, connectionsLost: 0, connectP50Ms: 1, connectP99Ms: 2 },
  ...{ connectCpuMicroseconds: 100, bytesPerConnection: 5_000, latencyP50Ms: 1, latencyP99Ms: 4 },
  ...{ deliveriesPerSecond: 500, deliveriesPerCpuSecond: 2_000, coresBusy: 0.25, residentBytes: 2 ** 26 },
  ...{ lagP99Ms: 0.1, problems: [] },
};

function find<T extends { readonly name: string }>(all: readonly T[], name: string): T {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

const broker = (name: string) => find(BROKERS, name);
const ALL: readonly Case[] = [...CASES, HANDSHAKES_CASE, ...SUITE];
const caseOf = (name: string, wire: WireName = 'ws') => ({ ...find(ALL, name), wire });

describe('the usage of a process', () => {
  it('is read from /proc for any process name', () => {
    const rest = 'S 1 2 3 4 5 6 7 8 9 10 250 50 0 0';
    expect(cpuSecondsOf(`42 (a (strange) name) ${rest}`)).toBe(3);
    expect(residentBytesOf('Name:\tnode\nVmRSS:\t    2048 kB\n')).toBe(2 * 2 ** 20);
    expect(() => residentBytesOf('Name:\tkthreadd\n')).toThrow(/how much memory/);
  });

  // The use of a process is read from /proc, which only Linux has.
  it('includes the threads of this process', onLinux, () => {
    const { cpuSeconds, residentBytes } = processUse(process.pid);
    expect(cpuSeconds).toBeGreaterThan(0);
    expect(residentBytes).toBeGreaterThan(10 * 2 ** 20);
    expect(() => processUse(2 ** 30)).toThrow(/ENOENT/);
  });
});

describe('a spread', () => {
  it.each([
    [[3], { median: 3, least: 3, most: 3, count: 1 }],
    [[9, 1, 4], { median: 4, least: 1, most: 9, count: 3 }],
    [[10, 9, 1, 2], { median: 5.5, least: 1, most: 10, count: 4 }],
  ])('of %j', (values, spread) => {
    expect(spreadOf(values)).toEqual(spread);
  });

  it('of nothing is none', () => {
    expect(spreadOf([])).toBeUndefined();
  });
});

describe('the comparison', () => {
  it('is above 1 if Apus is better, for figures in both directions', () => {
    const results = new Results();
    results.add(caseOf('idle'), broker('apus'), SAMPLE);
    results.add(caseOf('idle'), broker('mosquitto'), { ...SAMPLE, bytesPerConnection: 10_000 });
    results.add(caseOf('p2p'), broker('apus'), SAMPLE);
    results.add(caseOf('p2p'), broker('mosquitto'), { ...SAMPLE, deliveriesPerCpuSecond: 8_000 });
    const [bytes] = COMPARED.idle;
    const [perCpuSecond] = COMPARED.paced;
    if (bytes === undefined || perCpuSecond === undefined) throw new Error('there are no figures');
    expect(results.advantage(caseOf('idle'), broker('apus'), broker('mosquitto'), bytes)).toBe(2);
    expect(results.advantage(caseOf('p2p'), broker('apus'), broker('mosquitto'), perCpuSecond)).toBe(0.25);
    expect(results.advantage(caseOf('p2p'), broker('apus'), broker('aedes'), perCpuSecond)).toBeUndefined();
  });

  it('is of neighbours in time, as a machine is faster in one minute than in the next', () => {
    const results = new Results();
    const add = (name: string, rates: readonly number[]) => {
      for (const rate of rates)
        results.add(caseOf('shared'), broker(name), { ...SAMPLE, deliveriesPerCpuSecond: rate });
    };
    add('apus', [1_000, 8_000, 3_000]);
    add('mosquitto', [500, 4_000, 6_000]);
    const [perCpuSecond] = COMPARED.saturated;
    if (perCpuSecond === undefined) throw new Error('there is no figure');
    expect(results.advantage(caseOf('shared'), broker('apus'), broker('mosquitto'), perCpuSecond)).toBe(2);
  });

  it('is a table of ratios, and then one for each case with medians, spreads, loss and missing features', () => {
    const results = new Results();
    const add = (name: string, rate: number, more: Partial<Sample> = {}) =>
      results.add(caseOf('shared'), broker(name), { ...SAMPLE, deliveriesPerCpuSecond: rate, ...more });
    for (const rate of [1_000, 3_000, 2_000]) add('apus', rate);
    for (const lost of [2, 3]) add('mosquitto', 4_000, { lost, inDoubt: 1 });
    const text = tablesText(results, casesOver(CASES, ['ws']), [
      broker('apus'),
      broker('mosquitto'),
      broker('aedes'),
    ]);
    expect(text).toMatch(/^\| case \| wire \| figure \| Apus \| Apus : Mosquitto \| Apus : aedes \|$/m);
    expect(text).toMatch(/\| deliveries per CPU second \| 2,000 \| \*\*0\.5\*\* \| – \|/);
    expect(text).toMatch(/^\| Apus \| 2,000 \(1,000–3,000\) .*\| 0\.25 \| 0 \| 0 \| 0 \| 0\.1 \|$/m);
    expect(text).toMatch(/^\| Mosquitto \| 4,000 \(4,000–4,000\) .*\| 0\.25 \| 7 \| 0 \| 0 \| 0\.1 \|$/m);
    expect(text).toMatch(/^\| aedes \| has none \|/m);
    expect(text).not.toMatch(/fan-out|1 to 200/);
    expect(text).not.toMatch(/tcp/);
  });

  it('has a row for each wire, and the wires of Apus beside the first', () => {
    const results = new Results();
    const add = (wire: WireName, name: string, connectionsPerSecond: number) =>
      results.add(caseOf('handshakes', wire), broker(name), { ...SAMPLE, connectionsPerSecond });
    for (const rate of [1_000, 1_000]) add('ws', 'apus', rate);
    add('tcp', 'apus', 2_000);
    add('tls', 'apus', 500);
    add('tls', 'mosquitto', 250);
    const over = (wires: readonly WireName[]) =>
      tablesText(results, casesOver([HANDSHAKES_CASE], wires), [broker('apus'), broker('mosquitto')], true);
    const text = over(['ws', 'tcp', 'tls']);
    expect(text).toMatch(/\| ws \| handshakes a second \| 1,000 \| – \|/);
    expect(text).toMatch(/\| tls \| handshakes a second \| 500 \| 2 \|/);
    expect(text).toMatch(/^\| case \| figure \| Apus, ws \| tcp : ws \| tls : ws \|$/m);
    expect(text).toMatch(/\| handshakes a second \| 1,000 \| 2 \| \*\*0\.5\*\* \|$/m);
    expect(over(['ws'])).not.toMatch(/tcp|tls/);
    expect(tablesText(results, casesOver([HANDSHAKES_CASE], ['tls']), [broker('apus')])).toMatch(
      /^### 5,000 handshakes.*, over tls$/m,
    );
  });
});

describe('a case', () => {
  const small = (given: Case, url: string) =>
    measureCase(given, {
      url,
      use: () => processUse(process.pid),
      startWorker: localWorker,
      workers: 2,
      seconds: 0.3,
      scale: 0.02,
      stop: new AbortController().signal,
    });

  // As above: a case reads the use of its broker.
  it.each(ALL.map(({ name }) => name))(
    '%s runs against Apus and delivers everything, once and in order',
    onLinux,
    async (name) => {
      const node = await brokerForTest();
      const given = caseOf(name);
      const sample = await small(given, node.url);
      expect(sample.problems).toEqual([]);
      expect(sample).toMatchObject({ lost: 0, inDoubt: 0, duplicates: 0, outOfOrder: 0, connectionsLost: 0 });
      expect(sample.received).toBe(sample.expected);
      expect(sample.received > 0).toBe(given.kind === 'paced' || given.kind === 'saturated');
    },
  );

  it('of the suite has its rates and its version of MQTT, and names its size', () => {
    const of = (name: string) => find(SUITE, name);
    expect(SUITE.map(({ scenario }) => scenario.connectsPerSecond)).toEqual([
      ...[100, 1_000, 1_000, 1_000],
      ...[5_000, 1_000, 1_000, 1_000],
    ]);
    for (const { scenario, needsSharedSubscriptions } of SUITE) {
      expect(scenario.mqttVersion).toBe(needsSharedSubscriptions ? '5' : '3.1.1');
      expect(scenario.keepAliveSeconds).toBe(300);
    }
    expect(of('conn-10K-100').title).toMatch(/\(conn-10K-100 at 100%\)$/);
    expect(of('p2p-50K-50K-50K-50K').title).toMatch(/\(p2p-50K-50K-50K-50K at 5%\)$/);
    const clients = (name: string) => of(name).scenario.groups.map((group) => group.clients);
    expect(clients('p2p-50K-50K-50K-50K')).toEqual([2_500, 2_500]);
    expect(clients('fanout-5-1000-5-250K')).toEqual([100, 5]);
    expect(clients('sharedsub-50K-500-50K-50K')).toEqual([25, 2_500]);
  });

  it('uses only what every broker supports', () => {
    for (const { scenario } of CASES) {
      expect(scenario.mqttVersion).toBe('3.1.1');
      const plan = planOf(scenario, { scale: 1, seconds: 1, part: { number: 1, of: 1 } });
      for (const { firstClient } of plan.groups)
        expect(clientPlan(plan, firstClient).topics.length).toBeLessThan(2);
    }
  });
});

describe('the command line', () => {
  it('takes all brokers and cases by itself, three and a smaller size when it is to be quick', () => {
    expect(optionsFrom([], 2)).toMatchObject({ rounds: 3, minutesMax: 15, processes: 1, scale: 1 });
    expect(optionsFrom([], 2)?.brokers).toEqual(BROKERS);
    const quick = optionsFrom(['--quick'], 8);
    expect(quick).toMatchObject({ rounds: 1, minutesMax: 3, processes: 7, scale: 0.5 });
    expect(quick?.brokers.map(({ name }) => name)).toEqual(['apus', 'mosquitto', 'aedes']);
    expect(optionsFrom(['--help'], 2)).toBeUndefined();
  });

  it('takes the Mosquitto that it is given, and another build of Apus beside the others', () => {
    const options = optionsFrom(['--brokers', 'apus', '--mosquitto', 'm', '--before', 'old/apus.js'], 2);
    expect(options?.programs).toEqual({ mosquitto: 'm', before: 'old/apus.js' });
    expect(options?.brokers.map(({ name }) => name)).toEqual(['apus', 'before']);
  });

  it('takes WebSocket by itself, and the wires and the suite that it is asked for', () => {
    expect(optionsFrom([], 2)).toMatchObject({ wires: ['ws'], cases: CASES, section: undefined });
    const options = optionsFrom(['--wires', 'ws,tls', '--cases', 'idle,suite,handshakes'], 2);
    expect(options?.wires).toEqual(['ws', 'tls']);
    expect(options?.cases).toEqual([find(CASES, 'idle'), ...SUITE, HANDSHAKES_CASE]);
  });

  it.each([
    [[], 'bench'],
    [['--cases', 'idle,handshakes'], 'bench'],
    [['--wires', 'ws,tcp'], 'wires'],
    [['--wires', 'tcp', '--cases', 'suite'], 'suite'],
  ])('%j is written into a part of the page of its own: %s', (args, section) => {
    expect(optionsFrom([...args, '--write'], 2)?.section).toBe(section);
    const page = readFileSync(new URL('../../results/benchmarks.md', import.meta.url), 'utf8');
    expect(page).toMatch(new RegExp(`<!-- ${section}: begin -->[^]*<!-- ${section}: end -->`));
  });

  it.each([
    [['--wires', 'quic'], /--wires takes names of ws, tcp, tls, with commas between them; not "quic"/],
    [['--brokers', 'apus,kafka'], /--brokers takes names of apus, mosquitto.*not "kafka"/],
    [['--cases', ''], /--cases takes names/],
    [['--rounds', '0'], /--rounds takes a number from 1 to 20, not "0"/],
    [['--minutes', 'x'], /--minutes takes a number/],
    [['--wings'], /wings/],
  ])('%j is refused in a sentence', (args, sentence) => {
    expect(() => optionsFrom(args, 2)).toThrow(sentence);
  });
});

describe('programs that are installed', () => {
  it.each([
    ['1.6.9', true],
    ['2.0.11', true],
    ['2.1.2', false],
    ['3.0.0', false],
    ['unknown', false],
  ])('Mosquitto %s is one that speaks WebSocket slowly: %s', (version, isOne) => {
    expect(isSlow(version)).toBe(isOne);
  });

  it('name the version that the table names', () => {
    const read = (path: string) => readFileSync(new URL(`../programs/${path}`, import.meta.url), 'utf8');
    const source = (name: string) => readFileSync(new URL(`../brokers/${name}.ts`, import.meta.url), 'utf8');
    expect(source('mochi')).toContain(/server\/v2 v([\d.]+)/.exec(read('mochi/go.mod'))?.[1] ?? 'none');
    expect(source('hivemq')).toContain(/<version>(20[\d.]+)</.exec(read('hivemq/pom.xml'))?.[1] ?? 'none');
  });
});
