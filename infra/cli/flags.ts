import { parseArgs } from 'node:util';
import { closestTo } from '../lib/closest.ts';
import {
  flagOf,
  type Setting,
  SettingError,
  type SettingName,
  settingOf,
  valuesOf,
} from '../lib/settings.ts';

/** A flag of a command that is no setting of the app. */
export interface Extra {
  /** The placeholder of its value. @default it has none */
  readonly value?: string;
  readonly help: string;
}

/** The arguments of the command line. */
export interface Flags {
  readonly settings: ReadonlyMap<SettingName, string>;
  /** The given extra flags without a value. */
  readonly extras: ReadonlySet<string>;
  /** The values of the other extra flags. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Reads `--frames-per-second 50 --tracing`. A switch without a value is true.
 *
 * @throws {SettingError} for a flag that is unknown or lacks its value
 */
export function parseFlags(
  args: readonly string[],
  names: readonly SettingName[],
  extras: Readonly<Record<string, Extra>>,
): Flags {
  const switches = new Set(names.filter((name) => settingOf(name).kind === 'switch').map(flagOf));
  const options = Object.fromEntries([
    ...names.map((name) => [flagOf(name).slice(2), { type: 'string' as const }]),
    ...Object.entries(extras).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  ]);
  const values = parse(withValues(args, switches), options);
  const settings = names.flatMap((name) => {
    const value = values[flagOf(name).slice(2)];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return {
    settings: new Map(settings),
    extras: new Set(Object.keys(extras).filter((name) => values[name] === true)),
    texts: new Map(
      Object.keys(extras).flatMap((name) => {
        const value = values[name];
        return typeof value === 'string' ? [[name, value] as const] : [];
      }),
    ),
  };
}

/** `--tracing --name x` becomes `--tracing=true --name x`. */
function withValues(args: readonly string[], switches: ReadonlySet<string>): string[] {
  return args.map((arg, index) => {
    const next = args[index + 1];
    return switches.has(arg) && next !== 'true' && next !== 'false' ? `${arg}=true` : arg;
  });
}

type Options = Record<string, { readonly type: 'string' | 'boolean' }>;

function parse(args: string[], options: Options): Record<string, string | boolean | undefined> {
  try {
    return parseArgs({ args, options, strict: true }).values as Record<string, string | boolean | undefined>;
  } catch (error) {
    // The rest of Node's message advises on `--`, which rarely helps.
    const message = error instanceof Error ? error.message : String(error);
    const [, lacking] = /^Option '(--[\w-]+)[^']*' argument (?:is ambiguous|missing)/.exec(message) ?? [];
    if (lacking !== undefined) throw new SettingError(`${lacking} lacks its value. --help shows all flags.`);
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
    const meant = unknown === undefined ? undefined : closestTo(unknown, Object.keys(options));
    if (meant !== undefined) {
      throw new SettingError(`${unknown} is no flag. Did you mean --${meant}? --help shows all flags.`);
    }
    const [sentence = ''] = message.split(/\. |\n/, 1);
    throw new SettingError(`${sentence.replace(/\.$/, '')}. --help shows all flags.`);
  }
}

/** The flags with their help, for people. */
export function helpOfFlags(names: readonly SettingName[], extras: Readonly<Record<string, Extra>>): string {
  const rows = [
    ...names.map((name) => helpOf(flagOf(name), settingOf(name))),
    ...Object.entries(extras).map(([name, extra]) => helpOf(`--${name}`, extra)),
  ];
  return rows.join('\n');
}

function helpOf(flag: string, setting: Partial<Setting> & Extra): string {
  const { help, preset } = setting;
  const more = preset === undefined ? '' : ` Default: ${preset}.`;
  return `  ${`${flag} ${valuesOf(setting)}`.trimEnd()}\n      ${help}${more}`;
}

/** Settings as `-c name=value` for the CDK's command line. */
export function contextArguments(settings: ReadonlyMap<SettingName, string>): readonly string[] {
  return [...settings].flatMap(([name, value]) => ['--context', `${name}=${value}`]);
}
