import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Folders with generated or installed files. */
const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', 'cdk.out', 'artefacts', 'test-results']);

/** Every file of the repository that people write, as `packages/mqtt/src/topic.ts`. */
export const FILES: readonly string[] = filesBelow('');

/** Every page that people write, with its text. `npm run check:conformance` checks the generated one. */
export const PAGES: readonly Page[] = FILES.filter(
  (path) => path === 'llms.txt' || (path.endsWith('.md') && path !== 'docs/generated/conformance.md'),
).map((path) => ({
  path,
  text: textOf(path),
}));

export interface Page {
  readonly path: string;
  readonly text: string;
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Whether a file or a folder of this path exists. */
export function exists(path: string): boolean {
  const folder = path.endsWith('/') || path === '' ? path : `${path}/`;
  return FILES.some((file) => file === path || file.startsWith(folder));
}

/** The folders directly in another, which is '' or ends with a slash. */
export function foldersIn(parent: string): readonly string[] {
  const inside = FILES.filter((path) => path.startsWith(parent)).map((path) => path.slice(parent.length));
  return [...new Set(inside.filter((path) => path.includes('/')).map((path) => `${path.split('/')[0]}/`))];
}

/** Lines of blocks of code, continued ones in one piece, without comments; and code within sentences. */
export function codeOf({ text }: Page): readonly string[] {
  const blocks = [...text.matchAll(FENCE)].flatMap(([, code = '']) =>
    code.replaceAll('\\\n', ' ').split('\n'),
  );
  const spans = [...text.replaceAll(FENCE, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...blocks.map((line) => line.replace(/\s#\s.*$/, '')), ...spans];
}

/** The text outside of blocks of code. */
export function proseOf({ text }: Page): string {
  return text.replaceAll(FENCE, '');
}

const FENCE = /^```\w*\n(.*?)^```$/gms;

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    // Names with a leading dot belong to tools, except .ci.
    const isOurs = !NOT_OURS.has(entry.name) && (!entry.name.startsWith('.') || entry.name === '.ci');
    return isOurs ? filesBelow(path) : [];
  });
}
