import { COMMANDS } from '@apus/cli/testing';
import { DEPLOY_EXTRAS } from '../../infra/cli/deploy-flags.ts';
import { flagOf, SETTING_NAMES } from '../../infra/lib/settings.ts';
import { FLAGS as LOADTEST_FLAGS } from '../../loadtest/src/cli/arguments.ts';
import { codeOf, FILES, type Page, textOf } from './repository.ts';

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Scripts by the workspace's name. Those of the root are under ''. */
const SCRIPTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  FILES.filter((path) => /(?:^|\/)package\.json$/.test(path)).flatMap((path) => {
    const { name, scripts = {} } = JSON.parse(textOf(path)) as Manifest;
    const names = new Set(Object.keys(scripts));
    const folder = path.replace(/\/?package\.json$/, '');
    return folder === '' ? [['', names] as const] : [[name, names] as const, [folder, names] as const];
  }),
);

/** Commands of npm that a page names and that no `package.json` has. */
export function missingScripts(page: Page): readonly string[] {
  return codeOf(page).flatMap((code) =>
    [...code.matchAll(/\bnpm (run )?([a-z][\w:-]*)([^|&;]*)/g)].flatMap(
      ([command, run, name = '', rest = '']) => {
        if (run === undefined && name !== 'start' && name !== 'test') return [];
        const [own = ''] = rest.split(' -- ');
        const [, workspace = ''] = / -w (\S+)/.exec(own) ?? [];
        return SCRIPTS.get(workspace)?.has(name) ? [] : [command.trim()];
      },
    ),
  );
}

/** The start of each known command line, and the flags that it takes. */
const KNOWN: readonly (readonly [start: RegExp, flags: ReadonlySet<string>])[] = [
  ...COMMANDS.map(
    ({ name, flags }) =>
      [new RegExp(`\\bapus ${name}\\b`), new Set(Object.values(flags).flatMap(Object.keys))] as const,
  ),
  [/\bnpm run loadtest --/, new Set(Object.keys(LOADTEST_FLAGS))],
  [
    /\bnpm run deploy --/,
    new Set([...SETTING_NAMES.map((name) => flagOf(name).slice(2)), ...Object.keys(DEPLOY_EXTRAS)]),
  ],
  [
    /\bnpm start --/,
    new Set(Object.values(COMMANDS.find(({ name }) => name === 'serve')?.flags ?? {}).flatMap(Object.keys)),
  ],
];

/** Flags in a page's commands that the command does not have. */
export function unknownFlags(page: Page): readonly string[] {
  return codeOf(page).flatMap((code) =>
    KNOWN.flatMap(([start, flags]) => {
      const [, rest] = code.split(start);
      if (rest === undefined) return [];
      // The part of a line up to the next command of the shell.
      const [own = ''] = rest.split(/[|;)]|&&/);
      return [...own.matchAll(/ --([a-z][a-z0-9-]*)/g)]
        .map(([, flag = '']) => flag)
        .filter((flag) => flag !== 'help' && !flags.has(flag))
        .map((flag) => `${start.source}: --${flag}`);
    }),
  );
}

/** The flags of all commands. */
export const KNOWN_FLAGS: ReadonlySet<string> = new Set(KNOWN.flatMap(([, flags]) => [...flags]));
