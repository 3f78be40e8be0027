// `npm run test:prepare`: installs the programs without which tests are skipped, and says what it runs. `.ci/run` runs
// it, too. `--check` names what is missing and installs nothing.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installCommand, PROGRAMS } from './programs.mjs';

const missing = Object.keys(PROGRAMS).filter(isMissing);
if (missing.length === 0) {
  console.log('Every program that the tests use is installed.');
  process.exit(0);
}
const titles = missing.map((name) => PROGRAMS[name].title).join(', ');
console.log(`Missing: ${titles}.`);
const [program = '', ...args] = installCommand(missing) ?? [];
if (!isInstalled(program))
  fail(
    `Install them in your system's way: here is no ${program || 'package manager that this command knows'}.`,
  );
if (process.argv.includes('--check')) process.exit(1);
if (program === 'apt-get') installWithApt(args);
else run(program, ...args);
const left = missing.filter(isMissing);
if (left.length > 0) fail(`Still missing: ${left.map((name) => PROGRAMS[name].title).join(', ')}.`);

/**
 * Debian starts the servers that it installs: nginx and Caddy want port 80, Mosquitto and Redis theirs. While the file
 * says 101, it starts none. A file that is there stays.
 *
 * @param {readonly string[]} args
 */
function installWithApt(args) {
  const script = [
    'policy=/usr/sbin/policy-rc.d',
    'if [ ! -e "$policy" ]; then',
    '  trap \'rm -f "$policy"\' EXIT',
    '  trap "exit 130" INT TERM',
    '  printf "#!/bin/sh\\nexit 101\\n" > "$policy" && chmod +x "$policy"',
    'fi',
    // The list of packages may be old, or empty on a new machine.
    'apt-get update && apt-get "$@"',
  ];
  console.log(`> apt-get ${args.join(' ')}`);
  const isRoot = process.getuid?.() === 0;
  runQuietly(...(isRoot ? [] : ['sudo']), 'sh', '-c', script.join('\n'), 'sh', ...args);
}

/** @param {keyof typeof PROGRAMS} name */
function isMissing(name) {
  const { commands, probe } = PROGRAMS[name];
  if (!commands.every((names) => names.some(isInstalled))) return true;
  return probe !== undefined && spawnSync(probe[0], probe.slice(1), { stdio: 'ignore' }).status !== 0;
}

/** @param {string} command */
function isInstalled(command) {
  // Debian keeps some servers in a folder that is only in the PATH of root.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return command !== '' && folders.some((folder) => existsSync(join(folder, command)));
}

/** @param {...string} words */
function run(...words) {
  console.log(`> ${words.join(' ')}`);
  runQuietly(...words);
}

/** @param {...string} words */
function runQuietly(...words) {
  const { status, error } = spawnSync(words[0] ?? '', words.slice(1), { stdio: 'inherit' });
  if (error !== undefined || status !== 0)
    fail(`The command above failed${error ? `: ${error.message}` : ` with status ${status}`}.`);
}

/** @param {string} sentence @returns {never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
