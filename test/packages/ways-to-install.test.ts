import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '@apus/cli/testing';
import { describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`);

const WORKFLOWS = filesIn('.github/workflows');
const CHART = 'infra/helm/apus';
const TEMPLATES = filesIn(`${CHART}/templates`).map(textOf).join('\n');
const COMPOSE = 'infra/compose.yaml';
const UNIT = 'infra/systemd/apus.service';
/** Templates of Helm are YAML only when they are filled in. */
const YAML = [COMPOSE, `${CHART}/Chart.yaml`, `${CHART}/values.yaml`, ...filesIn('.github')].filter((path) =>
  /\.ya?ml$/.test(path),
);

describe.each(YAML)('%s', (path) => {
  it('is YAML', () => {
    const { errors, warnings } = parseDocument(textOf(path), { merge: true });
    expect([...errors, ...warnings]).toEqual([]);
  });
});

const SERVE = COMMANDS.find(({ name }) => name === 'serve')?.flags ?? {};
const SERVE_FLAGS = Object.values(SERVE).flatMap(Object.keys);

/** The words of each command line that begins a node. */
const COMMAND_LINES: Readonly<Record<string, readonly string[]>> = {
  [COMPOSE]: Object.values(
    (parse(textOf(COMPOSE), { merge: true }) as { services: Record<string, { command?: string[] }> })
      .services,
  ).flatMap(({ command = [] }) => (command[0] === 'serve' ? command : [])),
  [UNIT]: (/^ExecStart=apus (.*)$/m.exec(textOf(UNIT))?.[1] ?? '').split(' '),
  [`${CHART}/templates/deployment.yaml`]: [...TEMPLATES.matchAll(/^ +- (serve|--.*)$/gm)].map(
    ([, word = '']) => word,
  ),
};

describe.each(Object.entries(COMMAND_LINES))('the command of a node in %s', (_path, words) => {
  it('has flags that `apus serve` has', () => {
    expect(words).toContain('serve');
    const flags = words.flatMap((word) => /^--([a-z-]+)/.exec(word)?.[1] ?? []);
    expect(flags.length).toBeGreaterThan(3);
    expect(flags.filter((flag) => !SERVE_FLAGS.includes(flag))).toEqual([]);
  });
});

describe('the chart', () => {
  const values = parse(textOf(`${CHART}/values.yaml`)) as Record<string, unknown>;
  const used = new Set([...TEMPLATES.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path));

  it('has a value for each name in its templates', () =>
    expect([...used].filter((path) => valueAt(values, path) === undefined)).toEqual([]));

  it('uses each of its values', () =>
    expect(
      pathsOf(values).filter((path) => ![...used].some((name) => `${path}.`.startsWith(`${name}.`))),
    ).toEqual([]));

  it('has the version of the broker', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string };
    expect(parse(textOf(`${CHART}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });
});

describe.each(WORKFLOWS)('%s', (path) => {
  const text = textOf(path);
  const workflow = parse(text) as { on: Record<string, unknown>; permissions: unknown };

  it('gives its jobs no rights but those that they name, and strangers no secret', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(workflow.on).not.toHaveProperty('pull_request_target');
    if ('pull_request' in workflow.on) expect(text).not.toMatch(/\bsecrets\b(?!,)|: write|github\.token/);
  });

  it('runs actions of others at one commit', () => {
    const others = [...text.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action]) => action);
    for (const each of others) expect(each).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });
});

/** `undefined` where there is no such path. */
function valueAt(values: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], values);
}

/** The paths of values that are no maps; an empty map is a value. */
function pathsOf(values: unknown, prefix = ''): string[] {
  const isMap = typeof values === 'object' && values !== null && !Array.isArray(values);
  const entries = isMap ? Object.entries(values) : [];
  if (entries.length === 0) return [prefix];
  return entries.flatMap(([name, value]) => pathsOf(value, prefix === '' ? name : `${prefix}.${name}`));
}
