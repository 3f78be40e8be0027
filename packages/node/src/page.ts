import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

export interface PageFile {
  readonly contentType: string;
  readonly etag: string;
  readonly body: Buffer;
}

/** The files of the page by their paths. They are few and small, and live in memory. */
export type Page = ReadonlyMap<string, PageFile>;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Beside the bundled command, or where the build puts it when the sources run. */
const DIRECTORIES = [new URL('./page/', import.meta.url), new URL('../dist/page/', import.meta.url)];

export function loadPage(): Page {
  const directory = DIRECTORIES.find((candidate) => existsSync(candidate));
  if (directory === undefined) return new Map([['/', NOT_BUILT]]);
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(directory)) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined) continue;
    const file = pageFile(contentType, readFileSync(new URL(name, directory)));
    files.set(name === 'index.html' ? '/' : `/${name}`, file);
  }
  return files;
}

function pageFile(contentType: string, body: Buffer): PageFile {
  return {
    contentType,
    body,
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  };
}

const NOT_BUILT = pageFile(
  'text/plain; charset=utf-8',
  Buffer.from('The broker runs. Its page has not been built: npm run build\n'),
);
