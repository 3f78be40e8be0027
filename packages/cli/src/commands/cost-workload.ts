import { readFileSync } from 'node:fs';
import { type GivenWorkload, WORKLOAD_FIELDS } from '@apus/cost';
import { reasonOf } from './client-flags.ts';
import { CommandError } from './command.ts';
import { type Flag, type Flags, UsageError, type Values } from './flags.ts';

const NAMES = Object.keys(WORKLOAD_FIELDS) as (keyof GivenWorkload)[];

/** The fields that describe most workloads; the others have defaults. */
const COMMON: ReadonlySet<keyof GivenWorkload> = new Set([
  'clients',
  'hours',
  'days',
  'connectsPerDay',
  'movesPerDay',
  'lossesPerDay',
  'resumedShare',
  'subscriptions',
  'publishesPerHour',
  'publisherShare',
  'fanOut',
  'qos',
  'bytes',
  'persistentShare',
  'offlineShare',
  'storedGigabytes',
  'streamShare',
  'snapshotShare',
  'recoveriesPerDay',
  'recoveredMessages',
  'snapshotsPerDay',
  'snapshotKeys',
  'streamGigabytes',
  'kafkaRecordsPerHour',
  'kafkaRecordsPerEvent',
  'iotMessagesPerHour',
  'iotMessagesPerEvent',
  'ruleShare',
]);

const flagsFor = (isCommon: boolean): Flags =>
  Object.fromEntries(
    NAMES.filter((name) => COMMON.has(name) === isCommon).map((name): [string, Flag] => {
      const { help, preset } = WORKLOAD_FIELDS[name];
      return [flagOf(name), { value: 'NUMBER', help, ...(preset !== undefined && { default: preset }) }];
    }),
  );

/** A flag for each field of a workload, under two headings. */
export const COMMON_WORKLOAD_FLAGS = flagsFor(true);
export const OTHER_WORKLOAD_FLAGS = flagsFor(false);

/** The workload of `--workload`; fields that were given as flags replace those in it. */
export function workloadFrom(values: Values): GivenWorkload {
  const file = values.text('workload');
  const given = file === undefined ? {} : readWorkload(file);
  const flags = NAMES.map((name) => [name, numberFrom(values, flagOf(name))] as const);
  const set = Object.fromEntries(flags.filter(([, value]) => value !== undefined));
  return { ...given, ...set };
}

function readWorkload(file: string): object {
  const parsed = readJson(file, 'workload');
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new CommandError(`${file} should hold an object, as {"clients": 1000, "hours": 8}.`);
}

/** @param what the content of the file, for the error message */
export function readJson(file: string, what: string): unknown {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new CommandError(`The ${what} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${file} is not JSON: ${reasonOf(error)}`, { cause: error });
  }
}

function numberFrom(values: Values, flag: string): number | undefined {
  const text = values.text(flag);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new UsageError(`--${flag} takes a number, not "${text}".`);
}

/** `publishesPerHour` becomes `--publishes-per-hour`. */
function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
