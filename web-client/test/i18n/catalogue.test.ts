import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { en } from '../../src/i18n/en/index.ts';
import { views } from '../../src/i18n/en/views.ts';
import { t } from '../../src/i18n/index.ts';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

/** Attributes that people read, or hear. */
const READ = new Set([
  'label',
  'title',
  'placeholder',
  'description',
  'alt',
  'aria-label',
  'aria-description',
]);

/** Texts that are the same in every language: addresses, media types, and names of the protocol. */
const SAME_EVERYWHERE = /^(?:wss?:\/\/|[a-z]+\/[a-z]+$|QoS\b)/;

/** Texts that are in a component instead of the catalogue. */
function textsOf(path: string): string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
    ts.ScriptKind.TSX,
  );
  const look = (node: ts.Node): void => {
    if (ts.isJsxText(node)) found.push(node.text.trim());
    if (ts.isJsxAttribute(node) && READ.has(node.name.getText()) && node.initializer !== undefined) {
      if (ts.isStringLiteral(node.initializer)) found.push(node.initializer.text);
    }
    node.forEachChild(look);
  };
  look(source);
  return found.filter((text) => /\p{L}{2}/u.test(text) && !SAME_EVERYWHERE.test(text));
}

test('every text of every component comes from the catalogue', () => {
  const components = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.tsx'),
  );
  expect(components.length).toBeGreaterThan(50);
  const texts = components.flatMap((name) => textsOf(join(SOURCES, name)).map((text) => `${name}: ${text}`));
  expect(texts).toEqual([]);
});

test('the texts that load before those of the other views name none of them', () => {
  const named = new RegExp(`['\`](?:${Object.keys(views).join('|')})\\.[a-z]`, 'i');
  const ofViews = new RegExp(`^features/(?:${Object.keys(views).join('|')})/`);
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !ofViews.test(name),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((name) => named.test(readFileSync(join(SOURCES, name), 'utf8')))).toEqual([]);
});

test('no entry of the catalogue is empty, and placeholders are named', () => {
  const entries = (value: object, path: string): [string, string][] =>
    Object.entries(value).flatMap(([name, entry]) =>
      typeof entry === 'string'
        ? [[`${path}${name}`, entry] satisfies [string, string]]
        : entries(entry as object, `${path}${name}.`),
    );
  for (const [key, text] of entries({ ...en, ...views }, '')) {
    if (!key.startsWith('reasons.') && !key.startsWith('troubles.')) expect(text, key).not.toBe('');
    // One brace alone, or a name with a space in it, would be shown as it is.
    expect(text.replaceAll(/\{\{\w+\}\}/g, ''), key).not.toMatch(/\{\{|\}\}/);
  }
});

test('a text has its values, and its plural', () => {
  expect(t('messages.marks.skipped', { count: 1, number: 1 })).toContain('take 1 message:');
  expect(t('messages.marks.skipped', { count: 2, number: '$&' })).toContain('take $& messages:');
  expect(t('publish.sizeOf', { size: '3 B', max: '{{size}}' })).toBe('3 B of {{size}}');
});
