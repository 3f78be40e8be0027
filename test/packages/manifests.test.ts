import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FILES } from '../docs/repository.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HOME = 'https://github.com/apus-mqtt/apus';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly homepage?: string;
  readonly bugs?: unknown;
  readonly repository?: unknown;
  readonly engines?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
const root = manifestOf('.');
const PUBLIC = FILES.filter((path) => path.endsWith('/package.json'))
  .map((path) => path.replace('/package.json', ''))
  .filter((folder) => manifestOf(folder).private !== true);

describe('packages for npm', () => {
  it('are these', () =>
    expect(PUBLIC.toSorted()).toEqual([
      'extensions/publish',
      'extensions/react',
      'infra',
      'loadtest/artillery-engine-mqtt',
      'packages/cli',
      'packages/client',
    ]));

  it('are what a release publishes', () => {
    const release = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
    const [, published = ''] = /for package in (.*); do/.exec(release) ?? [];
    expect(published.split(' ').toSorted()).toEqual(
      PUBLIC.map((folder) => manifestOf(folder).name).toSorted(),
    );
  });

  it.each(PUBLIC)('%s says where it comes from, and needs no package of the workspace', (folder) => {
    const manifest = manifestOf(folder);
    expect(manifest).toMatchObject({
      version: root.version,
      license: root.license,
      engines: { node: '>=20' },
      description: expect.stringMatching(/\.$/),
      homepage: `${HOME}/tree/main/${folder}#readme`,
      bugs: { url: `${HOME}/issues` },
      repository: { type: 'git', url: `git+${HOME}.git`, directory: folder },
    });
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    expect(needed.filter((name) => name.startsWith('@apus/'))).toEqual([]);
  });
});
