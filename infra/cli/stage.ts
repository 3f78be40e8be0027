import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { closestTo } from '../lib/closest.ts';
import { SETTING_NAMES, SettingError, type SettingName, settingOf } from '../lib/settings.ts';
import type { Flags } from './flags.ts';

/** The name of a stage is part of a file name and of a stack name. */
const STAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;

export const STAGE_FLAG = {
  value: 'STAGE',
  help: 'Remembers the flags of a deployment: reads apus.STAGE.json, and writes it when it has deployed. Its stack is apus-STAGE.',
} as const;

/** npm runs the command in the repository, and says where it was called. */
export function stageFile(stage: string, folder: string = process.env.INIT_CWD ?? '.'): string {
  if (STAGE_NAME.test(stage)) return resolve(folder, `apus.${stage}.json`);
  throw new SettingError(`--stage has up to 64 letters, digits and -; it is not "${stage}".`);
}

/**
 * The flags of the command line, completed with those in the stage's file.
 *
 * @throws {SettingError} if the file is no JSON, or contains an unknown setting
 */
export function withStage(flags: Flags, names: readonly SettingName[] = SETTING_NAMES): Flags {
  const stage = flags.texts.get('stage');
  if (stage === undefined) return flags;
  const file = stageFile(stage);
  const remembered = Object.entries(readStage(file)).filter(([name]) => names.includes(name as SettingName));
  const entries = [['name', `apus-${stage}`], ...remembered] as [SettingName, string][];
  return { ...flags, settings: new Map([...entries, ...flags.settings]) };
}

/** The file is for people to read, change and version with their code: it contains no secret. */
export function writeStage(file: string, settings: ReadonlyMap<SettingName, string>): void {
  const values = SETTING_NAMES.flatMap((name) => {
    const text = settings.get(name);
    return text === undefined ? [] : [[name, valueOfSetting(name, text)]];
  });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`);
}

function readStage(file: string): Readonly<Record<string, string>> {
  const given = parsed(file);
  const unknown = Object.keys(given).find((name) => !SETTING_NAMES.includes(name as SettingName));
  if (unknown !== undefined) {
    const meant = closestTo(unknown, SETTING_NAMES);
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    throw new SettingError(`${file} has "${unknown}", which is no setting of Apus.${hint}`);
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}

/** A stage that is deployed for the first time has no file. */
function parsed(file: string): Readonly<Record<string, unknown>> {
  try {
    const given: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return { ...given };
    throw new SettingError(`${file} holds settings by their names, as {"framesPerSecond": 50}.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    if (error instanceof SyntaxError) throw new SettingError(`${file} is no JSON: ${error.message}`);
    throw error;
  }
}

function valueOfSetting(name: SettingName, text: string): unknown {
  const { kind } = settingOf(name);
  if (kind === 'count') return Number(text);
  return kind === 'switch' ? text === 'true' : text;
}
