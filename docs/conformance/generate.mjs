// Writes docs/generated/conformance.md: every statement of the two standards, who keeps it, and who proves it.
//   node docs/conformance/generate.mjs             writes the page
//   node docs/conformance/generate.mjs --check     fails, and says why, when page, code and tests disagree
//   node docs/conformance/generate.mjs --missing   prints what still lacks code or a test
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idsIn, misspeltIn } from './ids.mjs';
import {
  deviations,
  ROOT,
  rows,
  STATUS_OF_KIND,
  STATUSES,
  sections,
  sources,
  testFolders,
  versions,
} from './statements.mjs';

const PAGE = join(ROOT, 'docs/generated/conformance.md');

/** "MQTT-3.1.2-24" is of section "3.1". @param {string} id */
const sectionOf = (id) => /-(\d+\.\d+)/.exec(id)?.[1] ?? id;

/** @template T @param {T[]} items @param {(item: T) => string} key @returns {Map<string, T[]>} */
function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

/** @param {string[]} paths */
function links(paths) {
  const label = (path) => path.replace(/^(?:packages|extensions)\/([^/]+)\/(?:src|test)\//, '$1/');
  return paths.map((path) => `[${label(path)}](../../${path})`).join(', ');
}

/** @param {(string | number)[]} cells */
const line = (...cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;

/** @param {import('./statements.mjs').Row} row */
const saying = (row) => (row.as ? `As ${row.as.join(', ')}.` : row.says);

/** The page as Markdown. */
function page() {
  const count = (of, status) => of.filter((row) => row.status === status).length;
  const summary = Object.entries(STATUSES).map(([status, meaning]) =>
    line(status, ...versions.map((version) => count(version.rows, status)), meaning),
  );
  const total = line('**all**', ...versions.map((version) => `**${version.rows.length}**`), '');
  const deviating = deviations.map((entry) => line(entry.id, entry.kind, entry.why));
  const chapters = versions.flatMap((version) => [
    `## ${version.name}\n`,
    ...[...groupBy(version.rows, (row) => sectionOf(row.id))].flatMap(([section, of]) => [
      `### ${section} ${sections[`${version.name} ${section}`] ?? sections[section]}\n`,
      line('Statement', 'Binds', 'Says', 'Code', 'Tests', 'Status'),
      line(...Array(6).fill('---')),
      ...of.map((row) =>
        line(row.id, row.binds ?? '', saying(row), links(row.code), links(row.tests), row.status),
      ),
      '',
    ]),
  ]);
  const intro = readFileSync(new URL('introduction.md', import.meta.url), 'utf8').trimEnd();
  return [
    `${intro}\n\n## Summary\n`,
    line('Status', ...versions.map((version) => version.name), 'Meaning'),
    line('---', '--:', '--:', '---'),
    ...summary,
    total,
    '\n## Deviations\n',
    line('Statement', 'Kind', 'Why'),
    line('---', '---', '---'),
    ...deviating,
    '',
    ...chapters,
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

/** Everything that is wrong, a sentence each. @returns {string[]} */
function problems() {
  const known = new Map(rows.map((row) => [row.id, row]));
  const found = [];
  for (const [id, of] of groupBy(rows, (row) => row.id))
    if (of.length > 1) found.push(`${id} is listed twice.`);
  for (const file of [...sources, ...testFolders]) {
    for (const id of new Set(idsIn(file.text))) {
      if (!known.has(id)) found.push(`${file.path} names ${id}, which is no statement of the standard.`);
    }
    for (const text of misspeltIn(file.text))
      found.push(`${file.path} names ${text}, which is not the number of a statement.`);
  }
  for (const row of rows) {
    for (const id of row.as ?? [])
      if (!known.has(id))
        found.push(`${row.id} is said to be as ${id}, which is no statement of the standard.`);
    if (row.status === 'claimed, not tested')
      found.push(
        `${row.id} is claimed and not tested: code names it (${row.code.join(', ')}), no test title does.`,
      );
    if (row.status === 'open' && !row.deviation)
      found.push(
        `${row.id} is open: it binds the server, and neither code, nor a test, nor deviations.json names it.`,
      );
  }
  for (const [id, entries] of groupBy(deviations, (entry) => entry.id)) {
    const entry = entries[0];
    const row = known.get(id);
    const named = [...(row?.code ?? []), ...(row?.tests ?? [])];
    if (entries.length > 1) found.push(`deviations.json lists ${id} twice.`);
    if (!(entry.kind in STATUS_OF_KIND))
      found.push(`deviations.json calls ${id} "${entry.kind}", which is no kind.`);
    if (!entry.why) found.push(`deviations.json does not say why for ${id}.`);
    if (!row) found.push(`deviations.json names ${id}, which is no statement of the standard.`);
    if (row?.binds === 'client')
      found.push(`deviations.json needs no entry for ${id}: it binds the client anyway.`);
    if (entry.kind === 'not-applicable' && named.length > 0)
      found.push(`deviations.json calls ${id} not applicable, but it is named in ${named.join(', ')}.`);
  }
  if (!existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== page())
    found.push(
      'docs/generated/conformance.md is out of date: run "node docs/conformance/generate.mjs" and commit the result.',
    );
  return found;
}

/** Lists the statements that lack code or a test, by section. */
function missing() {
  const bound = rows.filter((row) => row.binds !== 'client' && !row.as && !row.deviation);
  const lists = { 'no code and no test': [], 'no test': [], 'no code': [] };
  for (const row of bound) {
    if (row.tests.length === 0) lists[row.code.length === 0 ? 'no code and no test' : 'no test'].push(row.id);
    else if (row.code.length === 0) lists['no code'].push(row.id);
  }
  for (const [title, ids] of Object.entries(lists)) {
    console.log(`${title}: ${ids.length}`);
    for (const [, of] of groupBy(ids, (id) => `${id.split('-')[0]} ${sectionOf(id)}`))
      console.log(`  ${of.join(' ')}`);
  }
}

if (process.argv.includes('--missing')) missing();
else if (process.argv.includes('--check')) {
  const found = problems();
  for (const problem of found) console.error(problem);
  console.log(
    found.length === 0
      ? `Conformance: ${rows.length} statements, no problem.`
      : `Conformance: ${found.length} problems.`,
  );
  process.exitCode = found.length === 0 ? 0 : 1;
} else writeFileSync(PAGE, page());
