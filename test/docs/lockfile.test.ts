import { describe, expect, it } from 'vitest';
import { textOf } from './repository.ts';

interface Locked {
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

/** Packages that run a program when they are installed, and why that is accepted. */
const WITH_SCRIPTS: Readonly<Record<string, string>> = {
  '@scarf/scarf': 'reports installations: turned off by `scarfSettings` in package.json',
  'aws-crt': 'looks for its binary, which is in the package',
  esbuild: 'looks for its binary, which is a package of its own',
  lmdb: 'looks for its binary, which is a package of its own',
  'msgpackr-extract': 'looks for its binary, which is a package of its own',
  workerd: 'looks for its binary, which is a package of its own',
};

const LOCKED = Object.entries(
  (JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Locked> }).packages,
).filter(([path, { link }]) => path.includes('node_modules/') && link !== true);

const namesOf = (chosen: (locked: Locked) => boolean) =>
  LOCKED.filter(([, locked]) => chosen(locked)).map(([path]) => path.split('node_modules/').at(-1));

describe('the lockfile', () => {
  it('has the hash of every package that is downloaded', () =>
    expect(namesOf(({ integrity, inBundle }) => integrity === undefined && inBundle !== true)).toEqual([]));

  it('has no address to download from', () =>
    expect(namesOf(({ resolved }) => /^\w+:\/\//.test(resolved ?? ''))).toEqual([]));

  it('has no package with an install script but those that are known', () => {
    expect(namesOf(({ hasInstallScript }) => hasInstallScript === true)).toEqual(Object.keys(WITH_SCRIPTS));
    expect(JSON.parse(textOf('package.json')).scarfSettings).toEqual({ enabled: false });
  });
});
