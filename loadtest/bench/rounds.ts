import { forkedWorker } from '../src/generator/worker-handles.ts';
import type { BrokerKind, PreparedBroker } from './brokers/broker.ts';
import { casesOver, WARM_UP, type WiredCase } from './cases.ts';
import { measureCase } from './measure-case.ts';
import type { Results } from './results.ts';
import { type RunningBroker, startBroker } from './running-broker.ts';
import type { Certificate, WireName } from './wires.ts';

/** The pause between two cases: time for the broker to clean up after the last one (closed sockets, garbage). */
const PAUSE_MS = 500;

/**
 * A broker is warm after this much CPU time: one with a just-in-time compiler is several times slower before. Counted
 * in its own CPU time, since on a busy machine it gets little in a second.
 */
const WARM_CPU_SECONDS = 2;
const WARM_UP_SECONDS = 1.5;
const WARM_UPS_MAX = 5;

/** Of files that are no connections. */
const OTHER_FILES = 500;

export interface Contender {
  readonly kind: BrokerKind;
  readonly prepared: PreparedBroker;
}

export interface RoundOptions {
  readonly contenders: readonly Contender[];
  readonly cases: readonly WiredCase[];
  readonly wires: readonly WireName[];
  readonly turns: number;
  /** For TLS. */
  readonly certificate: Certificate | undefined;
  readonly seconds: number;
  readonly scale: number;
  readonly processes: number;
  /** The limit of one process; undefined: not known. */
  readonly openFilesMax: number | undefined;
  readonly workerProcess: string;
  /** In the clock of `performance.now`: no case begins later. */
  readonly untilMs: number;
  readonly results: Results;
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

/** A broker over one wire: a process of its own, whose memory no connection of another wire has grown. */
interface Running extends Contender {
  readonly wire: WireName;
  readonly broker: RunningBroker;
}

/**
 * Starts every broker, once for each wire, takes each case through all of them in turn, and stops them. The broker that begins changes from
 * case to case, turn to turn and round to round, so that no broker always follows the same neighbour.
 */
export async function playRound(round: number, options: RoundOptions): Promise<void> {
  const running: Running[] = [];
  try {
    for (const contender of options.contenders) {
      for (const wire of options.wires) {
        const broker = await startOne(contender, wire, options);
        if (broker !== undefined) running.push({ ...contender, wire, broker });
      }
    }
    for (const each of running) await warmUp(each, options);
    for (const [index, given] of options.cases.entries()) {
      const overWire = running.filter(({ wire }) => wire === given.wire);
      for (let turn = 0; turn < options.turns; turn += 1) {
        for (const each of rotated(overWire, index + round + turn)) {
          if (options.stop.aborted || performance.now() > options.untilMs) return;
          if (given.needsSharedSubscriptions && !each.kind.hasSharedSubscriptions) continue;
          await playOne(given, each, options, true);
        }
      }
    }
  } finally {
    await Promise.all(running.map(({ broker }) => broker.stop()));
  }
}

async function startOne(
  { kind, prepared }: Contender,
  wire: WireName,
  { certificate, say, stop }: RoundOptions,
) {
  if (stop.aborted) return undefined;
  try {
    return await startBroker(prepared, wire, certificate);
  } catch (error) {
    say(`${kind.title} over ${wire} could not be started: ${messageOf(error)}`);
    return undefined;
  }
}

async function warmUp(running: Running, options: RoundOptions): Promise<void> {
  for (let times = 0; times < WARM_UPS_MAX && !options.stop.aborted; times += 1) {
    for (const given of casesOver(WARM_UP, [running.wire]))
      await playOne(given, running, { ...options, seconds: WARM_UP_SECONDS }, false);
    if (running.broker.use().cpuSeconds >= WARM_CPU_SECONDS) return;
  }
}

async function playOne(given: WiredCase, { kind, broker }: Running, options: RoundOptions, isKept: boolean) {
  const { results, stop, say, seconds, processes, workerProcess } = options;
  if (stop.aborted) return;
  const scale = Math.min(options.scale, filesAllow(given, options.openFilesMax));
  try {
    const sample = await measureCase(given, {
      url: broker.url,
      certificateAuthority: options.certificate?.pem,
      use: () => broker.use(),
      startWorker: () => forkedWorker(workerProcess),
      workers: processes,
      seconds,
      scale,
      stop,
    });
    if (stop.aborted) return;
    if (isKept) results.add(given, kind, sample);
    say(`${given.name} over ${given.wire}, ${kind.title}: ${lineOf(given, sample)}`);
    for (const problem of sample.problems) say(`  ${problem}`);
  } catch (error) {
    say(`${given.name} over ${given.wire}, ${kind.title}: ${messageOf(error)}`);
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

/** Connections of a case that one process may hold open. */
function filesAllow({ scenario }: WiredCase, openFilesMax: number | undefined): number {
  const clients = scenario.groups.reduce((sum, group) => sum + group.clients, 0);
  return openFilesMax === undefined ? 1 : Math.min(1, (openFilesMax - OTHER_FILES) / clients);
}

function lineOf({ kind }: WiredCase, sample: Awaited<ReturnType<typeof measureCase>>): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  if (kind === 'handshakes')
    return `${whole(sample.connectionsPerSecond)} handshakes/s, ${whole(sample.connectCpuMicroseconds)} µs each`;
  if (kind === 'idle')
    return `${whole(sample.connected)} connections, ${whole(sample.bytesPerConnection)} bytes and ${whole(sample.connectCpuMicroseconds)} µs each`;
  const each =
    sample.deliveriesPerCpuSecond === undefined
      ? ''
      : `, ${whole(sample.deliveriesPerCpuSecond)} per CPU second`;
  return `${whole(sample.deliveriesPerSecond)} deliveries/s${each}, p50 ${sample.latencyP50Ms} ms, p99 ${sample.latencyP99Ms} ms, ${whole(sample.lost)} lost`;
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const at = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
