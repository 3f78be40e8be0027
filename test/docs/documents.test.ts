import { describe, expect, it, test } from 'vitest';
import { missingScripts, unknownFlags } from './commands.ts';
import { brokenLinks } from './links.ts';
import { missingPaths } from './paths.ts';
import { foldersIn, PAGES, textOf } from './repository.ts';
import { missingTitles } from './titles.ts';

describe.each(PAGES.map((page) => [page.path, page] as const))('%s', (_path, page) => {
  it('links only to pages and headings that exist', () => expect(brokenLinks(page)).toEqual([]));

  it('names only files and folders that exist', () => expect(missingPaths(page)).toEqual([]));

  it('names only scripts of npm that exist', () => expect(missingScripts(page)).toEqual([]));

  it('names only titles of tests in a browser that exist', () => expect(missingTitles(page)).toEqual([]));

  it('gives commands only flags that they have', () => expect(unknownFlags(page)).toEqual([]));
});

describe.each(
  PAGES.filter(({ path }) => /^docs\/(?:generated\/)?[\w-]+\.md$/.test(path)).map(
    (page) => [page.path, page] as const,
  ),
)('%s', (path, { text }) => {
  it('begins by naming its reader', () =>
    expect(text).toMatch(/^(?:<!--.*-->\n+)?# .+\n\nThis page is for /));

  it('is in the list of pages', () =>
    expect(`docs/README.md ${textOf('docs/README.md')}`).toContain(path.replace('docs/', '')));
});

test('the tests of this file find missing links, paths, scripts, flags and titles', () => {
  const text = [
    '# One, two: `three`',
    '[here](#one-two-three) [gone](#four) [gone](gone.md) [elsewhere](https://example.org/gone)',
    '`test/docs/documents.test.ts` `docs/documents.test.ts` `documents.gone.ts` `gone/` `*.test.ts`',
    '`web-client-weight`: "is at most … gzipped", "is gone"; `web-client-gone`: "gone"',
    '`npm run gone` `npm run dev -w web-client` `npm run dev` `npm start -- --gone --port 1`',
    '```sh',
    'apus pub -t a -m b \\',
    '  --gone --url x   # not --this',
    '```',
  ].join('\n');
  const page = { path: 'test/docs/README.md', text };
  // No such page exists, so its own headings are missing, too.
  expect(brokenLinks(page)).toEqual(['#one-two-three', '#four', 'gone.md']);
  expect(
    brokenLinks({
      ...page,
      path: 'README.md',
      text: '[a](#more) [b](docs/deploy.md#stages) [c](docs/deploy.md#gone)',
    }),
  ).toEqual(['docs/deploy.md#gone']);
  expect(missingPaths(page)).toEqual(['documents.gone.ts', 'gone/']);
  expect(missingTitles(page)).toEqual(['web-client-weight: is gone', 'web-client-gone: gone']);
  expect(missingScripts(page)).toEqual(['npm run gone', 'npm run dev']);
  expect(unknownFlags(page)).toEqual(['\\bapus pub\\b: --gone', '\\bnpm start --: --gone']);
});

test('the pages for readers have at most 65,000 words', () => {
  // Folders of docs/ hold what is generated, and the parts that it is generated from.
  const pages = PAGES.filter(({ path }) => /^docs\/[^/]+$/.test(path));
  const words = pages.flatMap(({ text }) => text.trim().split(/\s+/));
  // Say it in fewer words, or leave to `loadtest/results/` what was measured.
  expect(words.length).toBeLessThanOrEqual(65_000);
});

test('the page on the architecture lists every folder', () => {
  const [, tree = ''] = /^## The folders\n+```\n(.*?)^```$/ms.exec(textOf('docs/architecture.md')) ?? [];
  const listed = (indent: string): string[] =>
    [...tree.matchAll(new RegExp(`^${indent}([\\w-]+/)`, 'gm'))].map(([, name = '']) => name).sort();
  expect(listed('')).toEqual(
    foldersIn('')
      .filter((name) => !name.startsWith('.'))
      .sort(),
  );
  expect(listed('  ')).toEqual([...foldersIn('packages/'), ...foldersIn('extensions/')].sort());
});
