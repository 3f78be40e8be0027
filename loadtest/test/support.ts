import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningDoors, startDoors } from '@apus/cli';
import { onTestFinished } from 'vitest';
import { runFast } from '../src/generator/run-fast.ts';
import type { Door } from '../src/generator/wire.ts';
import { localWorker } from '../src/generator/worker-handles.ts';
import { outcomeOf } from '../src/report/outcome.ts';
import { planOf, type Size } from '../src/scenario/plan.ts';
import { readScenario } from '../src/scenario/read-scenario.ts';
import type { Scenario } from '../src/scenario/scenario.ts';

export const ONE_PART = { number: 1, of: 1 } as const;

/** A broker with both doors, for one test. */
export async function brokerForTest(options: Parameters<typeof startDoors>[0] = {}): Promise<RunningDoors> {
  const node = await startDoors({ port: 0, gatewayPort: 0, counters: true, logSink: () => {}, ...options });
  onTestFinished(() => node.stop());
  return node;
}

/** A listener of the node without WebSocket, at any free port. */
export function streamListener(scheme: 'tcp' | 'tls') {
  const address = { scheme, host: '127.0.0.1', port: 0, connectionsMax: undefined };
  return { ...address, hasProxyProtocol: false, needsCertificate: false, origins: [] };
}

export function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'apus-loadtest-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

export function urlOf(node: RunningDoors, door: Door): string {
  return door === 'node' ? node.url : (node.gateway?.url ?? '');
}

/** A scenario with the fields that a test sets; the rest is small. */
export function scenarioOf(fields: Readonly<Record<string, unknown>>): Scenario {
  return readScenario({
    name: 'test',
    title: 'A test.',
    durationSeconds: 1,
    shortSeconds: 1,
    connectsPerSecond: 200,
    ...fields,
  });
}

export interface FastTestOptions {
  readonly size?: Partial<Size>;
  readonly workers?: number;
  readonly stop?: AbortSignal;
  readonly startAtMs?: number;
  readonly certificateAuthority?: string;
}

/** Runs a scenario with the fast generator in this process, against a door of a real broker. */
export async function runForTest(
  scenario: Scenario,
  url: string,
  door: Door,
  {
    size = {},
    workers = 1,
    stop = new AbortController().signal,
    startAtMs,
    certificateAuthority,
  }: FastTestOptions = {},
) {
  const full: Size = { scale: 1, seconds: 0.2, part: ONE_PART, ...size };
  const run = await runFast({
    assignment: {
      scenario,
      size: full,
      urls: [url],
      door,
      workers,
      firstWorker: 0,
      runTag: 7,
      clock: 'monotonic',
      credentials: {},
      certificateAuthority,
    },
    startWorker: localWorker,
    onProgress: () => {},
    stop,
    startAtMs,
  });
  return { run, plan: planOf(scenario, full), outcome: outcomeOf(run.ledgers, run.wasStopped) };
}
