import { randomInt } from 'node:crypto';
import type { WorkerHandle } from '../src/generator/messages.ts';
import { runFast } from '../src/generator/run-fast.ts';
import { outcomeOf } from '../src/report/outcome.ts';
import type { Case } from './cases.ts';
import type { ProcessUse } from './process-use.ts';

/** The measurements of one run of a case against one broker. */
export interface Sample {
  readonly expected: number;
  readonly received: number;
  readonly lost: number;
  readonly inDoubt: number;
  readonly duplicates: number;
  readonly outOfOrder: number;
  readonly connected: number;
  readonly connectionsLost: number;
  /** From the first handshake to the last CONNACK. */
  readonly connectionsPerSecond: number;
  readonly connectP50Ms: number;
  readonly connectP99Ms: number;
  /** The broker's CPU time for each connection made. */
  readonly connectCpuMicroseconds: number;
  /** Resident memory added for each connection. */
  readonly bytesPerConnection: number;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  readonly deliveriesPerSecond: number;
  /** Undefined if the broker's CPU clock did not advance. */
  readonly deliveriesPerCpuSecond: number | undefined;
  /** How many cores the broker kept busy while messages were sent. */
  readonly coresBusy: number;
  readonly residentBytes: number;
  /** How late the generator itself was. */
  readonly lagP99Ms: number;
  readonly problems: readonly string[];
}

export interface CaseRun {
  readonly url: string;
  /** The authority of a `tls://` broker, in PEM. */
  readonly certificateAuthority?: string | undefined;
  readonly use: () => ProcessUse;
  readonly startWorker: () => WorkerHandle;
  readonly workers: number;
  readonly seconds: number;
  readonly scale: number;
  readonly stop: AbortSignal;
}

/** Runs a case against a running broker, and reads the resources that its process used. */
export async function measureCase(
  { kind, scenario }: Case,
  { url, certificateAuthority, use, startWorker, workers, seconds, scale, stop }: CaseRun,
): Promise<Sample> {
  const before = use();
  let connected = before;
  let connectedAtMs = 0;
  let drained = before;
  let drainedAtMs = 0;
  const { ledgers, problems } = await runFast({
    assignment: {
      scenario,
      // Connections that were only made are not held.
      size: { scale, seconds: kind === 'handshakes' ? 0 : seconds, part: { number: 1, of: 1 } },
      urls: [url],
      door: 'node',
      workers,
      firstWorker: 0,
      runTag: randomInt(0x10000),
      clock: 'monotonic',
      credentials: {},
      certificateAuthority,
    },
    startWorker,
    onProgress: () => {},
    async atMoment(moment) {
      if (moment === 'connected') {
        connected = use();
        connectedAtMs = performance.now();
      } else {
        drained = use();
        drainedAtMs = performance.now();
      }
    },
    stop,
  });
  const failure = failureOf(ledgers.length, workers, problems);
  if (failure !== undefined) throw new NotMeasured(failure);
  const { deliveries, connections, generator, connectingSeconds, receivingSeconds, ...outcome } =
    outcomeOf(ledgers);
  const { expected, received, lost, inDoubt, duplicates, outOfOrder, latencyMs } = deliveries;
  const cpuSeconds = drained.cpuSeconds - connected.cpuSeconds;
  const made = Math.max(1, connections.connected);
  return {
    ...{ expected, received, lost, inDoubt, duplicates, outOfOrder },
    connected: connections.connected,
    connectionsLost: connections.lost,
    connectionsPerSecond: connectingSeconds > 0 ? connections.connected / connectingSeconds : 0,
    connectP50Ms: connections.connectMs.p50,
    connectP99Ms: connections.connectMs.p99,
    connectCpuMicroseconds: ((connected.cpuSeconds - before.cpuSeconds) / made) * 1e6,
    bytesPerConnection: (drained.residentBytes - before.residentBytes) / made,
    latencyP50Ms: latencyMs.p50,
    latencyP99Ms: latencyMs.p99,
    deliveriesPerSecond: receivingSeconds > 0 ? received / receivingSeconds : 0,
    deliveriesPerCpuSecond: cpuSeconds > 0 && received > 0 ? received / cpuSeconds : undefined,
    coresBusy: (cpuSeconds * 1_000) / Math.max(1, drainedAtMs - connectedAtMs),
    residentBytes: drained.residentBytes,
    lagP99Ms: generator.lagMs.p99,
    problems: [
      ...problems,
      ...Object.entries(outcome.problems).map(([sentence, times]) => `${times} times: ${sentence}`),
    ],
  };
}

/** A run in which the generator failed: its figures are meaningless. */
export class NotMeasured extends Error {
  override readonly name = 'NotMeasured';
}

function failureOf(ledgers: number, workers: number, problems: readonly string[]): string | undefined {
  return ledgers === workers ? undefined : `the generator failed: ${problems.join(' ')}`;
}
