// Makes a fresh clone ready: installs what is missing, and with the argument `build` builds what has changed; with
// `test` it prints which tests are skipped. Runs before `npm start` and `npm test`, with nothing but Node.js; it does
// nothing, quickly, if nothing has changed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf, hashOfCommand, ROOT } from './sources.mjs';

const NODE_VERSION_MIN = 20;
/** Remembers what was installed and built, inside what a clean-up removes. */
const STAMPS = join(ROOT, 'node_modules', '.apus');

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < NODE_VERSION_MIN)
  fail(`Apus needs Node.js ${NODE_VERSION_MIN} or later; this is ${process.version}.`);

step(
  'install',
  hashOf(['package.json', 'package-lock.json', '.npmrc']),
  'node_modules',
  'Installing packages (once)',
  install,
);
if (process.argv.includes('build')) {
  const program = join('packages', 'cli', 'dist', 'apus.js');
  const build = () => run('node', [join('packages', 'cli', 'build.mjs')]);
  step('build', hashOfCommand(), program, 'Building', build);
}

if (process.argv.includes('test') && process.env.CI === undefined)
  console.error(
    'Lighter than in CI (CONTRIBUTING.md, "Tests"): `CI=true npm test` runs everything, with every case.',
  );

/**
 * `npm ci` if the lockfile fits, as in a clean clone; `npm install` while a developer changes packages. Npm's warnings
 * about packages of others are nothing that the first reader of this terminal could act on.
 */
function install() {
  const quietly = '--loglevel=error';
  if (spawnSync('npm', ['ci', quietly], options('inherit')).status === 0) return;
  run('npm', ['install', quietly]);
}

/**
 * @param {string} name
 * @param {string} hash of everything that the step depends on
 * @param {string} output the result of the step: it runs again if this is missing
 * @param {string} title
 * @param {() => void} work
 */
function step(name, hash, output, title, work) {
  const stamp = join(STAMPS, name);
  const isStamped = existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
  if (isStamped && existsSync(join(ROOT, output))) return;
  console.error(`${title} …`);
  const startedAt = Date.now();
  work();
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(stamp, hash);
  console.error(`${title}: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}

/** @param {string} command @param {string[]} args */
function run(command, args) {
  const { status, error } = spawnSync(command, args, options('inherit'));
  if (error !== undefined) fail(`${command} could not be run: ${error.message}`);
  if (status !== 0) fail(`\`${command} ${args.join(' ')}\` failed; the lines above say why.`);
}

/** @param {'inherit'} stdio */
function options(stdio) {
  return { cwd: ROOT, stdio, shell: process.platform === 'win32' };
}

/** @param {string} sentence @returns {never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
