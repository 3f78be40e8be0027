import type { Door } from '../generator/wire.ts';
import { planOf } from './plan.ts';
import type { GeneratorName, Scenario } from './scenario.ts';

/** The environment of a run. */
export interface Situation {
  readonly generator: GeneratorName;
  readonly door: Door;
  /** Whether the broker shares this machine with the generator. */
  readonly isLocal: boolean;
  readonly cores: number;
  readonly processes: number;
  /** Open files of one process; undefined: not known. */
  readonly openFilesMax: number | undefined;
  readonly parts: number;
}

export interface AllowedSize {
  readonly scale: number;
  /** The reason for a smaller size, in a sentence; undefined at full size. */
  readonly reason: string | undefined;
}

/** Files of a process that are no connections. */
const OTHER_FILES = 500;

/** Connections of one broker on this machine: `--connections-max` of the node door, and the emulator's own limit. */
const LOCAL_CONNECTIONS_MAX: { readonly [D in Door]: number } = { node: 18_000, gateway: 10_000 };

/** Ports of one address towards another on Linux, with some to spare. */
const PORTS_MAX = 27_000;

/**
 * Messages a second, in and out together, that a core handles if generator and broker share it, with a margin: measured
 * on the machine of loadtest/guide.md. The emulator runs every Lambda in the broker's one process.
 */
const LOCAL_MESSAGES_PER_CORE: { readonly [D in Door]: { readonly [G in GeneratorName]: number } } = {
  node: { fast: 10_000, artillery: 2_000 },
  gateway: { fast: 500, artillery: 300 },
};

/** The same for a generator alone, against a broker on another machine. */
const REMOTE_MESSAGES_PER_CORE: { readonly [G in GeneratorName]: number } = {
  fast: 20_000,
  artillery: 2_000,
};

/** The largest share of the published size that the machine allows. Each of several parts runs its share. */
export function allowedSize(scenario: Scenario, situation: Situation): AllowedSize {
  const full = planOf(scenario, { scale: 1, seconds: 1, part: { number: 1, of: 1 } });
  const messages = full.publishesPerSecond + full.deliveriesPerSecond;
  const limits = [
    { share: connectionsMax(situation) / (full.clients / situation.parts), what: 'connections' },
    { share: messagesMax(situation) / (messages / situation.parts), what: 'messages a second' },
  ];
  const tightest = limits.reduce((least, limit) => (limit.share < least.share ? limit : least));
  if (tightest.share >= 1) return { scale: 1, reason: undefined };
  const scale = roundDown(tightest.share);
  const wanted = tightest.what === 'connections' ? full.clients : messages;
  const whole = Math.round(wanted / situation.parts).toLocaleString('en');
  return { scale, reason: `${whole} ${tightest.what} are more than this machine is asked for` };
}

function connectionsMax({ isLocal, door, generator, processes, openFilesMax }: Situation): number {
  const files = openFilesMax === undefined ? Number.POSITIVE_INFINITY : openFilesMax - OTHER_FILES;
  const generators = generator === 'fast' ? processes : 1;
  const own = Math.min(files * generators, PORTS_MAX);
  return isLocal ? Math.min(own, LOCAL_CONNECTIONS_MAX[door]) : own;
}

function messagesMax({ isLocal, door, generator, cores }: Situation): number {
  const perCore = isLocal ? LOCAL_MESSAGES_PER_CORE[door][generator] : REMOTE_MESSAGES_PER_CORE[generator];
  return perCore * cores;
}

/** Two digits, so that a report can be read and a run repeated. */
function roundDown(share: number): number {
  const digits = 10 ** (1 - Math.floor(Math.log10(share)));
  return Math.floor(share * digits) / digits;
}
