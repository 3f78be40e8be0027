// The statements of both standards, joined with the code and the tests that name them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idsIn, idsInTitles } from './ids.mjs';

/**
 * @typedef {{ id: string, binds: 'client' | 'server' | 'both', says: string, as?: string[] }} Statement `as`: the statements of 5.0
 *   that ask the same; such a statement of 3.1.1 has neither `binds` nor `says` of its own
 * @typedef {{ id: string, kind: 'deviation' | 'not-applicable' | 'client', why: string }} Deviation
 * @typedef {{ path: string, text: string }} File
 * @typedef {Statement & { code: string[], tests: string[], deviation?: Deviation, status: string }} Row
 */

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The statuses in the order of the summary, with their meaning. */
export const STATUSES = {
  kept: 'Code names the statement and a test proves it.',
  tested: 'A test proves it; no line of code names it.',
  'claimed, not tested': 'Code names it, no test does. The check fails.',
  open: 'Nothing names it yet. The check fails.',
  deviation: 'Not kept, or not everywhere. See [Deviations](#deviations).',
  'not applicable': 'There is nothing here that it could bind. See [Deviations](#deviations).',
  'as in 5.0': 'Asks what statements of 5.0 ask; it is kept where they are.',
  'binds the client': 'Clients must keep it. Files are named where the broker answers a violation.',
};
/** The status that each kind of entry in deviations.json gives. */
export const STATUS_OF_KIND = {
  deviation: 'deviation',
  'not-applicable': 'not applicable',
  client: 'binds the client',
};

/** @param {string} name of a file beside this one */
const readList = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));

/** @type {Record<string, string>} what each section is about */
export const sections = readList('sections.json');

/**
 * Reads the TypeScript files below a folder, which need not exist.
 * @param {string} folder relative to the repository
 * @returns {File[]}
 */
export function filesBelow(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => `${folder}/${String(name).replaceAll('\\', '/')}`)
    .filter((path) => /\.(ts|tsx|mts)$/.test(path) && !/\/(node_modules|dist)\//.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/**
 * Turns files into a map from id to the paths that name it.
 * @param {File[]} files
 * @param {(text: string) => Iterable<string>} find
 * @returns {Map<string, string[]>}
 */
export function pathsById(files, find) {
  const paths = new Map();
  for (const file of files) {
    for (const id of new Set(find(file.text))) paths.set(id, [...(paths.get(id) ?? []), file.path]);
  }
  return paths;
}

const packages = ['packages', 'extensions'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .sort()
    .map((name) => `${folder}/${name}`),
);
/** Code. */
export const sources = packages.flatMap((folder) => filesBelow(`${folder}/src`));
/** Tests, and what stands beside them. */
export const testFolders = [
  ...packages.flatMap((folder) => filesBelow(`${folder}/test`)),
  ...packages.flatMap((folder) => filesBelow(`${folder}/contract`)),
  ...filesBelow('test'),
];
/** Files whose titles prove something. @param {File[]} files */
export const provingAmong = (files) =>
  files.filter(({ path }) => path.endsWith('.test.ts') || path.includes('/contract/'));
const code = pathsById(sources, idsIn);
const tests = pathsById(provingAmong(testFolders), (text) => idsInTitles(text));
/** @type {Deviation[]} */
export const deviations = readList('deviations.json');

/**
 * @param {Statement} statement
 * @returns {Row}
 */
function toRow(statement) {
  const row = { ...statement, code: code.get(statement.id) ?? [], tests: tests.get(statement.id) ?? [] };
  const deviation = deviations.find((entry) => entry.id === statement.id);
  return { ...row, deviation, status: statusOf(row, deviation) };
}

/** @param {Omit<Row, 'status'>} row @param {Deviation | undefined} deviation */
function statusOf(row, deviation) {
  if (deviation) return STATUS_OF_KIND[deviation.kind] ?? 'open';
  if (row.as) return 'as in 5.0';
  if (row.binds === 'client') return 'binds the client';
  if (row.tests.length > 0) return row.code.length > 0 ? 'kept' : 'tested';
  return row.code.length > 0 ? 'claimed, not tested' : 'open';
}

/** The two standards with their statements. */
export const versions = [
  { name: 'MQTT 5.0', rows: readList('mqtt-5.0.json').map(toRow) },
  { name: 'MQTT 3.1.1', rows: readList('mqtt-3.1.1.json').map(toRow) },
];
/** @type {Row[]} */
export const rows = versions.flatMap((version) => version.rows);
