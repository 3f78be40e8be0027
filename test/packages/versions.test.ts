import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { FILES } from '../docs/repository.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND = join(ROOT, '.ci', 'set-version.mjs');
const NEXT = '12.34.56';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
/** The files that the command may change. */
const NAMING = FILES.filter((path) => readFileSync(join(ROOT, path)).includes(version));

type Manifest = Readonly<Record<string, unknown>>;

/** Each place that names the version of this repository, and the version that it names. */
function versionsIn(root: string): readonly (readonly [string, unknown])[] {
  const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
  const files = FILES.filter((path) => existsSync(join(root, path)));
  const manifests = files.filter((path) => path === 'package.json' || path.endsWith('/package.json'));
  const lock = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Manifest> };
  const ours = Object.entries(lock.packages).filter(([path]) => !path.includes('node_modules'));
  const { version, appVersion } = parse(textOf('infra/helm/apus/Chart.yaml')) as Manifest;
  return [
    ...manifests.flatMap((path) => versionsOf(path, JSON.parse(textOf(path)))),
    ...ours.flatMap(([path, entry]) => versionsOf(`package-lock.json ${path}`, entry)),
    ['the chart', version],
    ['the chart’s appVersion', appVersion],
    ...files
      .filter((path) => /\.(?:md|tsx?|service)$/.test(path) && !path.startsWith('loadtest/results/'))
      .flatMap((path) =>
        [...textOf(path).matchAll(/-(\d+\.\d+\.\d+)\.tgz|\bapus:(\d+\.\d+\.\d+)\b/g)].map(
          ([, packed, image]) => [path, packed ?? image] as const,
        ),
      ),
  ];
}

function versionsOf(path: string, manifest: Manifest): readonly (readonly [string, unknown])[] {
  const needed = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].flatMap(
    (kind) => Object.entries((manifest[kind] ?? {}) as Readonly<Record<string, string>>),
  );
  const own = manifest.version === undefined ? [] : [[path, manifest.version] as const];
  const ofOurs = needed.filter(([name, range]) => name.startsWith('@apus/') && !range.startsWith('file:'));
  return [...own, ...ofOurs.map(([name, range]) => [`${path}: ${name}`, range] as const)];
}

describe('the version of a release', () => {
  it('is the same in every package, the lockfile, the chart and on every page', () => {
    const versions = versionsIn(ROOT);
    expect(versions.length).toBeGreaterThan(60);
    expect(versions.filter(([, each]) => each !== version)).toEqual([]);
  });

  it('has the first section of the changelog, with something in it', () => {
    const [first = ''] = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^## /m).slice(1);
    const [heading, ...lines] = first.split('\n');
    expect([version, `${version}, not released yet`]).toContain(heading);
    expect(lines.filter((line) => line.startsWith('- ')).length).toBeGreaterThan(0);
  });
});

describe('npm run release:version', () => {
  /** A copy of what the command reads. */
  function copy(): string {
    const folder = mkdtempSync(join(tmpdir(), 'apus-version-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const path of NAMING) cpSync(join(ROOT, path), join(folder, path));
    return folder;
  }

  const run = (folder: string, ...args: readonly string[]) =>
    spawnSync(process.execPath, [COMMAND, ...args, folder], { encoding: 'utf8' });

  it('gives all of them another one, and the changelog its heading', () => {
    const folder = copy();
    expect(run(folder, NEXT)).toMatchObject({ status: 0, stderr: '' });
    expect(versionsIn(folder).filter(([, each]) => each !== NEXT)).toEqual([]);
    // As release.yml asks for it.
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toMatch(new RegExp(`^## ${NEXT}$`, 'm'));
    const again = run(folder, '12.34.57');
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('not released yet') });
  });

  it('leaves packages of others alone that have the same version', () => {
    const folder = copy();
    const before = readFileSync(join(folder, 'package-lock.json'), 'utf8');
    run(folder, NEXT);
    const after = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    const others = Object.entries(JSON.parse(before).packages).filter(([path]) =>
      path.includes('node_modules'),
    );
    expect(
      others.filter(([path, entry]) => JSON.stringify(entry) !== JSON.stringify(after.packages[path])),
    ).toEqual([]);
  });

  it.each(['0.2', 'v0.2.0', '0.2.0-rc.1', ''])('refuses %j', (given) =>
    expect(run(tmpdir(), given)).toMatchObject({ status: 1, stderr: expect.stringContaining('0.2.0') }),
  );

  it('refuses a version that is released', () => {
    const folder = copy();
    const path = join(folder, 'CHANGELOG.md');
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n## 0.0.9\n\n- It began.\n`);
    expect(run(folder, '0.0.9')).toMatchObject({ status: 1, stderr: expect.stringContaining('already') });
  });
});
