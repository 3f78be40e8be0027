import { availableParallelism } from 'node:os';
import { isStreamUrl } from '../generator/stream-wire.ts';
import type { ClockName } from '../measure/index.ts';
import { openFilesMax } from '../report/machine.ts';
import { clientsOfPart, type Plan, planOf, type Size } from '../scenario/plan.ts';
import type { GeneratorName, Scenario } from '../scenario/scenario.ts';
import { type AllowedSize, allowedSize } from '../scenario/size.ts';
import type { Arguments } from './arguments.ts';
import { UsageError } from './cli-error.ts';
import { checkTarget, findDoor, isLoopbackHost, type Target } from './target.ts';

/** Upper bounds of a run. */
const SECONDS_MAX = 86_400;
const PROCESSES_MAX = 64;
const CONNECTS_PER_SECOND_MAX = 100_000;
const PARTS_MAX = 1_000;

export interface Credentials {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
}

/** All settings of a run, with the scenario at its size. */
export interface RunSettings {
  readonly scenario: Scenario;
  readonly plan: Plan;
  /** The reason why it is not full size, if it is not. */
  readonly reason: string | undefined;
  readonly target: Target;
  readonly generator: GeneratorName;
  readonly processes: number;
  readonly credentials: Credentials;
  readonly clock: ClockName;
  readonly startAtMs: number | undefined;
}

/**
 * Reads the flags, asks the target which door it is, and chooses the size.
 *
 * @throws {UsageError} for invalid flags, and for targets without confirmation
 */
export async function settingsOf(given: Scenario, args: Arguments): Promise<RunSettings> {
  const scenario = withFlags(given, args);
  const part = partOf(args);
  if (part.of > 1 && !args.isSet('start-at'))
    throw new UsageError('Parts of a run begin together: give each the same --start-at.');
  const credentials = credentialsOf(args);
  const full = planOf(scenario, { scale: args.number('scale', 1e-6, 1) ?? 1, seconds: 1, part });
  const url = checkTarget(args.text('target'), args.text('confirm'), loadText(full));
  const generator = generatorFor(url, scenario, args);
  const door = await findDoor(url.href, args.oneOf('door', ['node', 'gateway']), credentials.token);
  const target: Target = { url: url.href, door, isLocal: isLoopbackHost(url.hostname) };
  const processes = args.whole('processes', 1, PROCESSES_MAX) ?? availableParallelism();
  const { scale, reason } = sizeOf(scenario, args, { target, generator, processes, parts: part.of });
  const size: Size = { scale, seconds: secondsOf(scenario, args), part };
  const plan = planOf(scenario, size);
  return {
    scenario,
    plan,
    reason,
    target,
    generator,
    processes: Math.min(processes, clientsOfPart(plan)),
    credentials,
    clock: args.oneOf('clock', ['monotonic', 'wall']) ?? (part.of > 1 ? 'wall' : 'monotonic'),
    startAtMs: startAtOf(args),
  };
}

function withFlags(scenario: Scenario, args: Arguments): Scenario {
  return {
    ...scenario,
    connectsPerSecond:
      args.number('connects-per-second', 0.1, CONNECTS_PER_SECOND_MAX) ?? scenario.connectsPerSecond,
    mqttVersion: args.oneOf('mqtt-version', ['3.1.1', '5']) ?? scenario.mqttVersion,
  };
}

/** Artillery's clients speak MQTT over WebSocket. */
function generatorFor({ href }: URL, scenario: Scenario, args: Arguments): GeneratorName {
  const chosen = args.oneOf('generator', ['artillery', 'fast']);
  if (!isStreamUrl(href)) return chosen ?? scenario.generator;
  if (chosen === 'artillery')
    throw new UsageError('Over TCP and TLS there is the fast generator alone: --generator fast.');
  return 'fast';
}

function secondsOf(scenario: Scenario, args: Arguments): number {
  const seconds = args.number('seconds', 0.1, SECONDS_MAX);
  return seconds ?? (args.isSet('full') ? scenario.durationSeconds : scenario.shortSeconds);
}

interface Place {
  readonly target: Target;
  readonly generator: GeneratorName;
  readonly processes: number;
  readonly parts: number;
}

function sizeOf(scenario: Scenario, args: Arguments, { target, ...place }: Place): AllowedSize {
  const scale = args.number('scale', 1e-6, 1);
  if (scale !== undefined) return { scale, reason: undefined };
  if (args.isSet('full') || scenario.basic) return { scale: 1, reason: undefined };
  return allowedSize(scenario, {
    ...place,
    door: target.door,
    isLocal: target.isLocal,
    cores: availableParallelism(),
    openFilesMax: openFilesMax(),
  });
}

function partOf(args: Arguments): Size['part'] {
  const text = args.text('part');
  if (text === undefined) return { number: 1, of: 1 };
  const [, number = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (number >= 1 && number <= of && of <= PARTS_MAX) return { number, of };
  throw new UsageError(`--part takes K/N, the Kth of N parts, as 1/4; not "${text}".`);
}

function startAtOf(args: Arguments): number | undefined {
  const text = args.text('start-at');
  if (text === undefined) return undefined;
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs))
    throw new UsageError(`--start-at takes a time as 2027-01-31T12:00:00Z, not "${text}".`);
  if (atMs < Date.now()) throw new UsageError(`--start-at ${text} has passed.`);
  return atMs;
}

function credentialsOf(args: Arguments): Credentials {
  return {
    username: args.text('username'),
    password: args.text('password') ?? process.env.APUS_PASSWORD,
    token: args.text('token') ?? process.env.APUS_TOKEN,
  };
}

function loadText(plan: Plan): string {
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const messages = plan.publishesPerSecond + plan.deliveriesPerSecond;
  return `up to ${count(plan.clients)} connections and ${count(messages)} messages a second`;
}
