import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { billOf, usageOf } from '@apus/cost';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';
import { artilleryFolder, isArtilleryInstalled } from '../src/artillery/install.ts';
import type { Report } from '../src/report/report.ts';
import { brokerForTest, folderForTest, runForTest, scenarioOf, streamListener, urlOf } from './support.ts';

// A test starts up to five processes, one after another, each of which starts others: this takes seconds, and many on a
// busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const LOAD_TEST = fileURLToPath(new URL('..', import.meta.url));
/** Of this run alone: the scenarios are found from a folder of this one. */
const DIST = mkdtempSync(join(LOAD_TEST, 'dist-test-'));

beforeAll(async () => {
  const build: string = '../build.mjs';
  const { buildLoadTest } = (await import(build)) as { buildLoadTest(dist: string): Promise<void> };
  await buildLoadTest(DIST);
});
afterAll(() => rmSync(DIST, { recursive: true, force: true }));

function start(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(DIST, 'main.mjs'), ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function outcomeOf(child: ChildProcess) {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the process has no standard output');
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  return { code: code as number, stdout: out, stderr: err };
}

const loadtest = (...args: readonly string[]) => outcomeOf(start(args));

/** A scenario of a few clients, in a file. */
function smallScenario(more: object = {}): string {
  const path = join(folderForTest(), 'small.json');
  const scenario = {
    name: 'small',
    title: 'Three pairs.',
    source: 'a test',
    durationSeconds: 60,
    shortSeconds: 1,
    connectsPerSecond: 100,
    goals: { lost: 0 },
    groups: [
      { name: 'subscribers', clients: 3, subscribe: { filters: ['pair/{client}'], qos: 1 } },
      {
        name: 'publishers',
        clients: 3,
        publish: { topic: 'pair/{client}', qos: 1, payloadBytes: 32, perSecond: 20 },
      },
    ],
    ...more,
  };
  writeFileSync(path, JSON.stringify(scenario));
  return path;
}

/** When both parts begin, in milliseconds from now: on a busy machine they need longer to be ready. */
const START_DELAYS_MS = [4_000, 12_000, 36_000];

/** Runs both parts of a scenario, until both were ready in time. Returns the folder of their ledgers. */
async function twoParts(scenario: string, url: string): Promise<string> {
  for (const delayMs of START_DELAYS_MS) {
    const folder = folderForTest();
    const startAt = new Date(Date.now() + delayMs).toISOString();
    const part = (number: number) =>
      loadtest(
        scenario,
        ...['--target', url, ...FAST, '--part', `${number}/2`, '--start-at', startAt],
        ...['--ledgers', join(folder, String(number)), '--json'],
      );
    const parts = await Promise.all([part(1), part(2)]);
    if (parts.every(({ code, stdout }) => code === 0 && !stdout.includes('after --start-at'))) return folder;
  }
  throw new Error('the parts were never ready in time');
}

const FAST = ['--generator', 'fast', '--processes', '2', '--seconds', '0.5'];

describe('loadtest', () => {
  it('loads a node over TCP, with the fast generator by itself', async () => {
    const node = await brokerForTest({ listen: [streamListener('tcp')] });
    const url = node.urls.find((each) => each.startsWith('tcp:')) ?? '';
    const scenario = smallScenario({ generator: 'artillery' });
    const args = ['--target', url, '--processes', '1', '--seconds', '0.5'];
    const { code, stdout } = await loadtest(scenario, ...args);
    expect(stdout).toMatch(/tcp:.* \(node door\), MQTT 5, fast generator$/m);
    expect(stdout).toMatch(/^Deliveries +30 +of 30, /m);
    expect(code).toBe(0);
  });

  it('prints a report for people: counts, latency, the bill', async () => {
    const node = await brokerForTest();
    const { code, stdout, stderr } = await loadtest(smallScenario(), '--target', node.url, ...FAST);
    expect(code).toBe(0);
    expect(stderr).toMatch(/full size: 6 clients, 60 publishes and 60 deliveries a second for 0\.5 s/);
    expect(stdout).toMatch(/^ {2}size +6 clients, full size$/m);
    expect(stdout).toMatch(/^Deliveries +30 +of 30, \d+\/s$/m);
    const [, perSecond] = /^Deliveries +30 +of 30, (\d+)\/s$/m.exec(stdout) ?? [];
    // By the plan it is 60, and less the longer the last one was on its way.
    expect(Number(perSecond)).toBeGreaterThan(0);
    expect(Number(perSecond)).toBeLessThanOrEqual(60);
    expect(stdout).toMatch(/^ {2}lost +0$/m);
    expect(stdout).toMatch(/^ {2}duplicates +0$/m);
    expect(stdout).toMatch(/^ {2}out of order +0$/m);
    expect(stdout).toMatch(/^milliseconds +mean +p50 +p95 +p99 +p99\.9 +max$/m);
    expect(stdout).toMatch(/^Connect( +[\d.,]+){6}$/m);
    expect(stdout).toMatch(/^Goal, messages lost at most 0: met \(0\)\.$/m);
    expect(stdout).toMatch(/what this run would have cost at the gateway door/);
    expect(stdout).toMatch(/^Gateway messages out +[\d.,]+ +\$[\d.]+ +[\d.]+% +estimated$/m);
    expect(stdout).toMatch(/^AWS IoT Core +\$[\d.]+ +\$[\d.]+/m);
  });

  it('prints at the gateway door of Apus the bill of its counters, to the frame', async () => {
    const node = await brokerForTest();
    const flags = [
      '--target',
      urlOf(node, 'gateway'),
      '--counters',
      new URL('/counters', node.httpUrl).href,
      '--json',
    ];
    const { code, stdout } = await loadtest(smallScenario(), ...flags, ...FAST);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({
      door: 'gateway',
      outcome: { deliveries: { expected: 30, received: 30, lost: 0 } },
    });
    await node.gateway?.emulator.quiet();
    const counters = node.gateway?.emulator.counters.snapshot();
    if (counters === undefined) throw new Error('the node has not opened its gateway door');
    const counted = usageOf(counters);
    const quantity = (name: string) => report.bill?.lines.find(({ usage }) => usage === name)?.quantity;
    expect(quantity('gatewayMessagesIn')).toBe(counted.gatewayMessagesIn);
    expect(quantity('gatewayMessagesOut')).toBe(counted.gatewayMessagesOut);
    // The handshake that asked for the door came before: $connect and $disconnect.
    expect(quantity('lambdaRequests')).toBe(counted.lambdaRequests - 2);
    const frames = (report.bill?.lines ?? []).filter(({ usage }) => usage?.startsWith('gatewayMessages'));
    expect(frames.every(({ basis }) => basis === 'counted')).toBe(true);
    const { gatewayMessagesIn, gatewayMessagesOut } = counted;
    expect(frames.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(
      billOf({ gatewayMessagesIn, gatewayMessagesOut }).usd,
      12,
    );
    expect(report.broker?.cpuSeconds).toBeGreaterThan(0);
  });

  it('ends at Ctrl+C with the report so far', async () => {
    const node = await brokerForTest();
    const flags = [
      '--target',
      node.url,
      '--generator',
      'fast',
      '--processes',
      '1',
      '--seconds',
      '600',
      '--json',
    ];
    const child = start([smallScenario(), ...flags]);
    const ended = outcomeOf(child);
    if (child.stderr === null) throw new Error('the process has no standard error');
    for await (const line of createInterface({ input: child.stderr })) {
      if (!line.startsWith('publishing')) continue;
      child.kill('SIGINT');
      break;
    }
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as Report;
    expect(report.wasStopped).toBe(true);
    expect(report.outcome).toMatchObject({ connections: { connected: 6 }, deliveries: { lost: 0 } });
  });

  it('combines parts of a run, each with its own ledgers, into one report', {
    timeout: 360_000,
  }, async () => {
    const node = await brokerForTest();
    const scenario = smallScenario({
      groups: [
        { name: 'subscribers', clients: 3, subscribe: { filters: ['all'], qos: 1 } },
        {
          name: 'publishers',
          clients: 2,
          publish: { topic: 'all', qos: 1, payloadBytes: 32, perSecond: 20 },
        },
      ],
    });
    const folder = await twoParts(scenario, node.url);
    const { stdout } = await loadtest('report', join(folder, '1'), join(folder, '2'), '--json');
    const report = JSON.parse(stdout) as Report;
    // 2 publishers × 10 messages × 3 subscribers, over both parts.
    expect(report.outcome.deliveries).toMatchObject({ expected: 60, received: 60, lost: 0, unexpected: 0 });
    expect(report.outcome.connections.connected).toBe(5);
    expect(report.problems).toEqual([]);
    const one = await loadtest('report', join(folder, '1'), '--json');
    expect((JSON.parse(one.stdout) as Report).problems.join()).toMatch(/Only 1 of 2 parts are here/);
  });

  it('reports a late part: messages that others have published meanwhile are not its own', async () => {
    const node = await brokerForTest();
    const scenario = scenarioOf({
      groups: [{ name: 'all', clients: 1, publish: { topic: 't', perSecond: 10 } }],
    });
    const { run } = await runForTest(scenario, node.url, 'node', { startAtMs: Date.now() - 1_000 });
    expect(run.problems.join()).toMatch(/^This part was ready \d+\.\d s after --start-at/);
  });

  it('stores the report, and --strict fails if a goal is missed', async () => {
    const node = await brokerForTest();
    const output = join(folderForTest(), 'reports', 'report.json');
    const scenario = smallScenario({ goals: { p95Ms: 0 } });
    const { code, stdout } = await loadtest(
      scenario,
      '--target',
      node.url,
      ...FAST,
      '--output',
      output,
      '--strict',
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/Goal, p95 latency in ms at most 0: missed/);
    expect((JSON.parse(readFileSync(output, 'utf8')) as Report).scenario.name).toBe('small');
  });
});

describe('refused commands', () => {
  it.each<[string[], RegExp]>([
    [['p2p-1K-1K-1K-1K'], /A load test needs a broker: --target/],
    [['p2p', '--target', 'ws://127.0.0.1:1'], /no scenario "p2p"; there are conn-10K-100/],
    [['p2p-1K-1K-1K-1K', '--target', 'broker'], /--target takes a URL as ws:/],
    [['p2p-1K-1K-1K-1K', '--target', 'http://127.0.0.1'], /takes a URL of ws:, wss:, tcp:, tls:, not http:/],
    [
      ['p2p-1K-1K-1K-1K', '--target', 'tcp://127.0.0.1:1', '--generator', 'artillery'],
      /there is the fast generator alone/,
    ],
    [['p2p-1K-1K-1K-1K', '--target', 'tls://127.0.0.1:1', '--door', 'gateway'], /takes WebSockets only/],
    [
      ['p2p-1K-1K-1K-1K', '--target', 'wss://broker.example.com/mqtt'],
      /broker\.example\.com is not this machine\. The run would put up to 2,000 connections and 2,000 messages a second on it: if it is yours to load, add --confirm broker\.example\.com/,
    ],
    [
      ['p2p-1K-1K-1K-1K', '--target', 'wss://broker.example.com/mqtt', '--confirm', 'example.com'],
      /--confirm names another host, example\.com/,
    ],
    [
      ['p2p-1K-1K-1K-1K', '--target', 'ws://127.0.0.1:1', '--scale', '2'],
      /--scale takes a number from 0\.000001 to 1/,
    ],
    [['p2p-1K-1K-1K-1K', '--target', 'ws://127.0.0.1:1', '--part', '3/2'], /--part takes K\/N/],
    [['p2p-1K-1K-1K-1K', '--target', 'ws://127.0.0.1:1', '--part', '1/2'], /give each the same --start-at/],
    [['p2p-1K-1K-1K-1K', '--wings'], /'--wings'/],
    [['p2p-1K-1K-1K-1K', 'more', '--target', 'x'], /One scenario at a time, not "more" too/],
    [['report'], /takes the folders of ledgers/],
    [['export', 'p2p-1K-1K-1K-1K'], /takes a scenario and a folder/],
  ])('%j is answered with a sentence and exit code 2', async (args, sentence) => {
    const { code, stderr } = await loadtest(...args);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  });

  it.each([
    ['--seconds', '100000', /from 0\.1 to 86,400/],
    ['--processes', '65', /from 1 to 64/],
    ['--connects-per-second', '1000000', /from 0\.1 to 100,000/],
    ['--generator', 'slow', /artillery, fast/],
  ])('%s %s is out of bounds', async (flag, value, sentence) => {
    const node = await brokerForTest();
    const { code, stderr } = await loadtest('fanout-1-1K-1-1K', '--target', node.url, flag, value);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  });

  it('a broker that is not there, the wrong door, counters of another: a sentence, and exit code 1', async () => {
    const node = await brokerForTest();
    const gateway = urlOf(node, 'gateway');
    const port = new URL(node.url).port;
    const counters = new URL('/counters', node.httpUrl).href;
    const cases: [string[], RegExp][] = [
      [['--target', 'ws://127.0.0.1:1/mqtt'], /No server listens at 127\.0\.0\.1:1\./],
      [['--target', 'tcp://127.0.0.1:1'], /[Nn]o server listens at 127\.0\.0\.1:1\./],
      [['--target', gateway, '--door', 'node'], /HTTP 400/],
      [['--target', `ws://127.0.0.1:${port}/nowhere`], /HTTP 404/],
      [['--target', node.url, '--counters', `${node.httpUrl}nothing`], /cannot be used: HTTP 404/],
      [['--target', gateway.replace('127.0.0.1', 'localhost'), '--counters', counters], /it counts for ws:/],
    ];
    for (const [args, sentence] of cases) {
      const { code, stderr } = await loadtest('fanout-1-1K-1-1K', '--generator', 'fast', ...args);
      expect(stderr).toMatch(sentence);
      expect(code).toBe(1);
    }
  });
});

describe('commands that need no broker', () => {
  it('--help names scenarios and flags; list says what each needs', async () => {
    expect((await loadtest('--help')).stdout).toMatch(/p2p-1K-1K-1K-1K.*--target URL.*--confirm HOST/s);
    expect((await loadtest('list')).stdout).toMatch(/websocket-2M-100K.*Published: p95 0\.96 ms/s);
  });

  it('export writes the files for a run at full size elsewhere', async () => {
    const folder = join(folderForTest(), 'out');
    const { code } = await loadtest(
      'export',
      'p2p-1K-1K-1K-1K',
      folder,
      '--target',
      'wss://broker.test/mqtt',
    );
    expect(code).toBe(0);
    const script = JSON.parse(readFileSync(join(folder, 'script.json'), 'utf8'));
    expect(script.config).toMatchObject({
      target: 'wss://broker.test/mqtt',
      phases: [{ arrivalCount: 2_000 }],
    });
    expect(existsSync(join(folder, 'package.json'))).toBe(true);
  });
});

const NEEDS_ARTILLERY = {
  timeout: 180_000,
  ...skipFor(
    !isArtilleryInstalled(artilleryFolder(LOAD_TEST)) &&
      'need Artillery, 600 MB: the first `npm run loadtest` installs it',
  ),
};

describe('Artillery itself', () => {
  it('runs the same scenario with the same report', NEEDS_ARTILLERY, async () => {
    const engine: string = '../artillery-engine-mqtt/build.mjs';
    const { buildEngine } = (await import(engine)) as { buildEngine(): Promise<void> };
    await buildEngine();
    const node = await brokerForTest();
    const flags = ['--generator', 'artillery', '--seconds', '0.5', '--json'];
    const { code, stdout, stderr } = await loadtest(smallScenario(), '--target', node.url, ...flags);
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({
      generator: 'artillery',
      outcome: {
        connections: { asked: 6, connected: 6, lost: 0 },
        publishes: { sent: 30, acknowledged: 30 },
        deliveries: { expected: 30, received: 30, lost: 0, duplicates: 0, outOfOrder: 0 },
      },
    });
    expect(stderr).toMatch(/mqtt\.messages_received: \.+ 30/);
  });
});
