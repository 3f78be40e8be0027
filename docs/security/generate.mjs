// Writes docs/generated/security.md: what is defended against whom, where in the code, and which test proves it.
//   node docs/security/generate.mjs            writes the page
//   node docs/security/generate.mjs --check    fails, and says why, when page, code and tests disagree
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idsInTitles } from '../conformance/ids.mjs';
import {
  filesBelow,
  pathsById,
  provingAmong,
  ROOT,
  sources,
  testFolders,
} from '../conformance/statements.mjs';

/**
 * @typedef {{ id: string, says: string, against: string }} Claim `against`: the attacker, and what it would gain
 * @typedef {{ title: string, claims: Claim[] }} Chapter
 */

const PAGE = join(ROOT, 'docs/generated/security.md');
const ID = /\bSEC-[A-Z]+-\d+\b/g;

/** @param {string} text @returns {string[]} */
const idsIn = (text) => text.match(ID) ?? [];

/** @param {string} name of a file beside this one */
const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** @param {string} name */
const prose = (name) => read(name).trimEnd();

/** @type {Chapter[]} */
const chapters = JSON.parse(read('claims.json'));
const claims = chapters.flatMap((chapter) => chapter.claims);

const allSources = [...sources, ...filesBelow('infra/lib'), ...filesBelow('infra/functions')];
const allTests = provingAmong([...testFolders, ...filesBelow('infra/test')]);
const code = pathsById(allSources, idsIn);
const tests = pathsById(allTests, (text) => idsInTitles(text, idsIn));

/** @param {string[]} paths */
const links = (paths) =>
  paths
    .map(
      (path) =>
        `[${path.replace(/^(?:packages|extensions)\/([^/]+)\/(?:src|test)\//, '$1/')}](../../${path})`,
    )
    .join(', ');

/** @param {string[]} cells */
const line = (...cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** The page as Markdown. */
function page() {
  const tables = chapters.flatMap(({ title, claims: of }) => [
    `## ${title}\n`,
    line('Claim', 'Says', 'Against', 'Code', 'Tests'),
    line('---', '---', '---', '---', '---'),
    ...of.map(({ id, says, against }) =>
      line(id, says, against, links(code.get(id) ?? []), links(tests.get(id) ?? [])),
    ),
    '',
  ]);
  return [prose('introduction.md'), '', ...tables, prose('not-defended.md'), ''].join('\n');
}

/** Everything that is wrong, a sentence each. @returns {string[]} */
function problems() {
  const known = new Set(claims.map(({ id }) => id));
  const found = [];
  if (known.size < claims.length) found.push('claims.json lists a claim twice.');
  for (const { path, text } of [...allSources, ...allTests])
    for (const id of new Set(idsIn(text)))
      if (!known.has(id)) found.push(`${path} names ${id}, which is not in docs/security/claims.json.`);
  for (const { id } of claims) {
    if (!tests.has(id)) found.push(`${id} is claimed, and no test title names it.`);
    if (!code.has(id)) found.push(`${id} is claimed, and no code names it.`);
  }
  if (!existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== page())
    found.push(
      'docs/generated/security.md is out of date: run "node docs/security/generate.mjs" and commit the result.',
    );
  return found;
}

if (process.argv.includes('--check')) {
  const found = problems();
  for (const problem of found) console.error(problem);
  console.log(
    `Security: ${claims.length} claims, ${found.length === 0 ? 'no problem' : `${found.length} problems`}.`,
  );
  process.exitCode = found.length === 0 ? 0 : 1;
} else writeFileSync(PAGE, page());
