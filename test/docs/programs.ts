import { transformSync } from 'esbuild';
import mqtt, { type MqttClient } from 'mqtt';
import { onTestFinished } from 'vitest';
import { PAGES } from './repository.ts';

/** A program of a page: its text, and the page with the number of the program on it, as `docs/deploy.md 2`. */
export interface Program {
  readonly id: string;
  readonly code: string;
}

/** Every block of JavaScript and TypeScript on every page. */
export const PROGRAMS: readonly Program[] = PAGES.flatMap(({ path, text }) =>
  [...text.matchAll(/^```[jt]sx?\n(.*?)^```$/gms)].map(([, code = ''], index) => ({
    id: `${path} ${index + 1}`,
    code,
  })),
);

export interface Surroundings {
  /** What the program's imports lead to, by their names; `mqtt` is there already. */
  readonly modules?: Readonly<Record<string, object>>;
  /** Names that the page takes for granted. */
  readonly scope?: Readonly<Record<string, unknown>>;
  /** Addresses on the page, and what takes their place. */
  readonly addresses?: Readonly<Record<string, string>>;
  /** Variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The constants and functions of the program that a test uses. */
  readonly shows?: readonly string[];
}

export interface Run {
  /** What it has printed so far. */
  readonly lines: readonly string[];
  readonly shown: Readonly<Record<string, unknown>>;
}

const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...names: readonly string[]
) => (...values: readonly unknown[]) => Promise<Record<string, unknown>>;

/** Runs a program of a page to its last line. Its clients of mqtt.js end with the test. */
export async function run(
  id: string,
  { modules = {}, scope = {}, addresses = {}, env = {}, shows = [] }: Surroundings,
): Promise<Run> {
  const known: Readonly<Record<string, object>> = { mqtt: { default: endingWithTest() }, ...modules };
  const lines: string[] = [];
  const names = {
    mqtt: endingWithTest(),
    ...scope,
    console: { log: (...values: readonly unknown[]) => lines.push(values.map(String).join(' ')) },
    process: { env },
    modules: known,
  };
  const text = Object.entries(addresses).reduce(
    (code, [on, other]) => code.replaceAll(on, other),
    codeOf(id),
  );
  // In a block, a constant of the program may have the name of a parameter.
  const body = `{ ${importsFrom(javascriptOf(text), known)}\nreturn { ${shows.join(', ')} }; }`;
  const shown = await new AsyncFunction(...Object.keys(names), body)(...Object.values(names));
  return { lines, shown };
}

function codeOf(id: string): string {
  const program = PROGRAMS.find((each) => each.id === id);
  if (program === undefined) throw new Error(`there is no program ${id}`);
  return program.code;
}

/** @throws Error where the program is no TypeScript */
export function javascriptOf(code: string): string {
  const options = {
    loader: 'tsx',
    jsx: 'transform',
    jsxFactory: 'createElement',
    jsxFragment: 'Fragment',
  } as const;
  // What is imported stays, whether it is used or not.
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true, target: 'es2022' } };
  return transformSync(code, { ...options, tsconfigRaw }).code;
}

/** A function has no imports: they become constants. */
function importsFrom(code: string, modules: Readonly<Record<string, object>>): string {
  return code.replaceAll(
    /^import (?:(\w+)|(\{[^}]*\})) from "([^"]+)";$/gm,
    (_, name: string | undefined, names: string | undefined, from: string) => {
      if (modules[from] === undefined) throw new Error(`the test does not know ${from}`);
      const wanted = names?.replaceAll(' as ', ': ') ?? `{ default: ${name} }`;
      return `const ${wanted} = modules[${JSON.stringify(from)}];`;
    },
  );
}

function endingWithTest(): typeof mqtt {
  const kept = <Client extends MqttClient>(client: Client) => {
    onTestFinished(() => void client.end(true));
    return client;
  };
  return {
    ...mqtt,
    connect: (...args: Parameters<typeof mqtt.connect>) => kept(mqtt.connect(...args)),
    connectAsync: async (...args: Parameters<typeof mqtt.connectAsync>) =>
      kept(await mqtt.connectAsync(...args)),
  } as typeof mqtt;
}
