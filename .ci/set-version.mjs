// `npm run release:version -- 0.2.0`: gives this version to all packages, the lockfile, the chart, the names of packed
// packages on pages, and the section of the changelog that is not released yet. Then: commit, tag, push (release.yml).
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [version = '', folder] = process.argv.slice(2);
const ROOT = folder ?? fileURLToPath(new URL('../', import.meta.url));
const NOT_OURS = new Set([
  'node_modules',
  'dist',
  'coverage',
  'cdk.out',
  'artefacts',
  'test-results',
  '.git',
]);
/** Results name the version that was measured. */
const HISTORY = /^loadtest\/results\//;
const TEXT = /\.(?:md|mjs|tsx?|json|service|ya?ml|txt)$/;

if (!/^\d+\.\d+\.\d+$/.test(version))
  fail('It is `npm run release:version -- 0.2.0`, with the version as 0.2.0.');
const { version: before } = JSON.parse(textOf('package.json'));
const changelog = textOf('CHANGELOG.md');
const [heading = '', , isOpen] = /^## (\S+?)(, not released yet)?$/m.exec(changelog) ?? [];
if (isOpen === undefined)
  fail(
    'CHANGELOG.md begins with no section as "## 0.2.0, not released yet": write what a user of the last version meets.',
  );
if (new RegExp(`^## ${version.replaceAll('.', '\\.')}$`, 'm').test(changelog))
  fail(`CHANGELOG.md has a section for ${version} already: that version is released.`);

const old = before.replaceAll('.', '\\.');
/** Where a page or a program names this version. */
const NAMES = [
  new RegExp(`(-)${old}(?=\\.tgz)`, 'g'),
  new RegExp(`(\\bapus:)${old}\\b`, 'g'),
  new RegExp(`(fromEcrRepository\\(.*, ')${old}(?=')`, 'g'),
  new RegExp(`('artillery-engine-mqtt': '\\^)${old}(?=')`, 'g'),
];
const OF_A_PACKAGE = [
  new RegExp(`^(  "version": ")${old}(?=")`, 'gm'),
  new RegExp(`("@apus/[\\w-]+": ")${old}(?=")`, 'g'),
];
const OF_THE_CHART = [new RegExp(`^((?:appV|v)ersion: )${old}$`, 'gm')];

for (const path of filesBelow('')) {
  if (path === 'package-lock.json' || path === 'CHANGELOG.md' || HISTORY.test(path)) continue;
  change(path, [
    ...NAMES,
    ...(path.endsWith('package.json') ? OF_A_PACKAGE : []),
    ...(path.endsWith('Chart.yaml') ? OF_THE_CHART : []),
  ]);
}
writeLockfile();
write('CHANGELOG.md', changelog.replace(heading, `## ${version}`));
console.log(`The version is ${version}, and was ${before}.`);

/** @param {string} path @param {readonly RegExp[]} patterns */
function change(path, patterns) {
  const text = textOf(path);
  const changed = patterns.reduce((now, pattern) => now.replaceAll(pattern, `$1${version}`), text);
  if (changed !== text) write(path, changed);
}

/** The packages of the workspace; those of others may have the same version. */
function writeLockfile() {
  const lock = JSON.parse(textOf('package-lock.json'));
  lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path.includes('node_modules')) continue;
    if (entry.version === before) entry.version = version;
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'])
      for (const name of Object.keys(entry[kind] ?? {}))
        if (name.startsWith('@apus/') && entry[kind][name] === before) entry[kind][name] = version;
  }
  write('package-lock.json', `${JSON.stringify(lock, undefined, 2)}\n`);
}

/** @param {string} parent @returns {readonly string[]} */
function filesBelow(parent) {
  return readdirSync(join(ROOT, parent)).flatMap((name) => {
    if (NOT_OURS.has(name)) return [];
    const path = parent === '' ? name : `${parent}/${name}`;
    if (statSync(join(ROOT, path)).isDirectory()) return filesBelow(path);
    return TEXT.test(name) ? [path] : [];
  });
}

/** @param {string} path */
function textOf(path) {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** @param {string} path @param {string} text */
function write(path, text) {
  writeFileSync(join(ROOT, path), text);
}

/** @param {string} sentence @returns {never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
