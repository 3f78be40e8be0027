import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The encodings of a file, the smaller first. */
export type Encoding = 'br' | 'gzip';

/** A file of the web client, plain and compressed. */
export interface PageFile {
  readonly contentType: string;
  readonly etag: string;
  readonly body: Buffer;
  /** Compressed: with Brotli if the build did so, and with gzip if that saves enough. */
  readonly compressed: ReadonlyMap<Encoding, Buffer>;
  /** Its name has a hash of its content, so it never changes. */
  readonly isImmutable: boolean;
}

/** The files of the web client by their paths. */
export interface Page {
  get(path: string): PageFile | undefined;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.tgz': 'application/gzip',
};

/** Folders of files that Vite names by hash. */
const HASHED = /\/assets\//;

/** The developers' page, which is served where topics are described. */
const PORTAL = '/portal/';

/** Below it, compressing saves no packet on the wire. */
const GZIP_BYTES_MIN = 1_400;

/**
 * Finds the files. Each is read and compressed at its first request, and kept in memory: some four megabytes.
 * @param withPortal serves the developers' page as well
 */
export function loadPage(directory: string | undefined, withPortal: boolean): Page {
  if (directory === undefined || !existsSync(directory)) return new Map([['/', NOT_BUILT]]);
  const paths = pathsBelow(directory, withPortal);
  const files = new Map<string, PageFile>();
  return {
    get(path) {
      const name = paths.get(path);
      const known = files.get(path);
      if (known !== undefined || name === undefined) return known;
      const file = readPageFile(directory, name, HASHED.test(path));
      files.set(path, file);
      return file;
    },
  };
}

/**
 * Files by the paths at which they are served. Other files are not served, even if they exist.
 */
function pathsBelow(directory: string, withPortal: boolean): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || CONTENT_TYPES[extname(entry.name)] === undefined) continue;
    const name = relative(directory, join(entry.parentPath, entry.name));
    const path = `/${name.split(sep).join('/')}`;
    if (path.startsWith(PORTAL) && !withPortal) continue;
    paths.set(path.replace(/\/index\.html$/, '/'), name);
  }
  return paths;
}

function readPageFile(directory: string, name: string, isImmutable: boolean): PageFile {
  const path = join(directory, name);
  const brotli = existsSync(`${path}.br`) ? readFileSync(`${path}.br`) : undefined;
  return pageFile(CONTENT_TYPES[extname(name)] ?? '', readFileSync(path), isImmutable, brotli);
}

function pageFile(contentType: string, body: Buffer, isImmutable: boolean, brotli?: Buffer): PageFile {
  const compressed = new Map<Encoding, Buffer>();
  if (brotli !== undefined) compressed.set('br', brotli);
  const isCompressed = /^font|gzip$/.test(contentType);
  if (body.length >= GZIP_BYTES_MIN && !isCompressed) compressed.set('gzip', gzipSync(body));
  return {
    contentType,
    body,
    compressed,
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    isImmutable,
  };
}

const NOT_BUILT = pageFile(
  'text/plain; charset=utf-8',
  Buffer.from('The broker runs. Its page has not been built: npm run build\n'),
  false,
);
