import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The damage of a file, in half a sentence. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

/**
 * The parts of LMDB's file format (version 2, 64 bit, little-endian) that say where its pages are. `lmdb` is pinned to
 * one version; another format has another version number, and is refused.
 */
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const HEADER_BYTES = 24;
const META_BYTES = HEADER_BYTES + 136;
const NODE_HEADER_BYTES = 8;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 65_536;
const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
/** A node whose data stands on other pages. */
const BIG_DATA = 0x01;

interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: bigint;
  /** The roots of the list of free pages and of the data. `page` is undefined if there is nothing. */
  readonly roots: readonly { readonly page: number | undefined; readonly depth: number }[];
}

/**
 * Reads every page of an LMDB file. LMDB maps the file and trusts it: a page after the end of the file kills the
 * process (SIGBUS), and a broken one may. The size alone does not tell, since the last transaction may have taken
 * pages at the end, given them back, and never written them. An empty file is no LMDB file yet.
 *
 * LMDB cannot be asked to check: it has no check, `lmdb` offers none, and opening the file and reading all of it is no
 * check either. Of the same file of 8 MB, one that was cut to 2 MB ended the process with SIGBUS, and one with 4 KB of
 * random bytes with SIGSEGV; with twenty pages of random bytes all of it could be read, with a third of the entries
 * missing and no error. A second process that opened it first would survive the first two cases, and miss the third.
 *
 * @throws {PageError} when a page that is in use is not there, or is not what it should be.
 */
export function checkPages(path: string): void {
  const file = openSync(path, 'r+');
  try {
    const fileBytes = fstatSync(file).size;
    if (fileBytes > 0) new PageCheck(file, fileBytes).run();
  } finally {
    closeSync(file);
  }
}

class PageCheck {
  readonly #file: number;
  readonly #fileBytes: number;
  readonly #meta: Meta;
  readonly #visited = new Set<number>();

  constructor(file: number, fileBytes: number) {
    this.#file = file;
    this.#fileBytes = fileBytes;
    const first = metaOf(read(file, 0, META_BYTES));
    const second = metaOf(read(file, first.pageBytes, META_BYTES));
    this.#meta = first.transaction >= second.transaction ? first : second;
  }

  run(): void {
    for (const { page, depth } of this.#meta.roots) if (page !== undefined) this.#tree(page, depth);
  }

  #tree(page: number, depth: number): void {
    const bytes = this.#page(page);
    const flags = bytes.readUInt16LE(18);
    if (flags !== (depth > 1 ? BRANCH : LEAF)) throw new PageError(`page ${page} is of another kind`);
    for (const node of nodesOf(bytes, page)) {
      if (depth > 1) this.#tree(childOf(node), depth - 1);
      else if (node.readUInt16LE(4) & BIG_DATA) this.#overflow(node);
    }
  }

  #page(page: number): Buffer {
    const { pageBytes } = this.#meta;
    this.#visit(page, 1);
    const bytes = read(this.#file, page * pageBytes, pageBytes);
    if (numberAt(bytes, 0) !== page) throw new PageError(`page ${page} holds something else`);
    return bytes;
  }

  /** Data that did not fit into its node: a page with a header, and the pages after it. */
  #overflow(node: Buffer): void {
    const { pageBytes } = this.#meta;
    const page = numberAt(node, NODE_HEADER_BYTES + node.readUInt16LE(6));
    const pages = Math.ceil((HEADER_BYTES + node.readUInt32LE(0)) / pageBytes);
    this.#visit(page, pages);
    const header = read(this.#file, page * pageBytes, HEADER_BYTES);
    const isWhole =
      numberAt(header, 0) === page &&
      header.readUInt16LE(18) === OVERFLOW &&
      header.readUInt32LE(20) >= pages;
    if (!isWhole) throw new PageError(`page ${page} holds something else`);
  }

  /** Each page is used at one place only. */
  #visit(page: number, pages: number): void {
    const { pageBytes, lastPage } = this.#meta;
    const end = page + pages;
    if (page < 2 || end > lastPage + 1) throw new PageError(`it refers to a page ${page}, which it has not`);
    if (end * pageBytes > this.#fileBytes) {
      throw new PageError(`it ends after ${this.#fileBytes} bytes, before its page ${end - 1}`);
    }
    if (this.#visited.has(page)) throw new PageError(`page ${page} is in use twice`);
    this.#visited.add(page);
  }
}

function metaOf(bytes: Buffer): Meta {
  if (bytes.readUInt32LE(24) !== MAGIC) throw new PageError('it does not begin as one');
  const version = bytes.readUInt32LE(28) & 0xffff;
  if (version !== DATA_VERSION) throw new PageError(`LMDB wrote it in its format ${version}`);
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || pageBytes & (pageBytes - 1)) {
    throw new PageError(`its pages have ${pageBytes} bytes`);
  }
  return {
    pageBytes,
    lastPage: numberAt(bytes, 144),
    transaction: bytes.readBigUInt64LE(152),
    roots: [treeOf(bytes.subarray(48)), treeOf(bytes.subarray(96))],
  };
}

function treeOf(bytes: Buffer): Meta['roots'][number] {
  const page = bytes.readBigUInt64LE(40) === NO_PAGE ? undefined : numberAt(bytes, 40);
  return { page, depth: bytes.readUInt16LE(6) };
}

/** Each node begins with its header and reaches to the end of the page. */
function* nodesOf(bytes: Buffer, page: number): Generator<Buffer> {
  const count = bytes.readUInt16LE(20) >> 1;
  if (count === 0 || HEADER_BYTES + 2 * count > bytes.length) throw new PageError(`page ${page} is broken`);
  for (let index = 0; index < count; index += 1) {
    const offset = HEADER_BYTES + bytes.readUInt16LE(HEADER_BYTES + 2 * index);
    const node = bytes.subarray(offset);
    const isWhole = node.length >= NODE_HEADER_BYTES && node.length >= bytesOf(node, bytes);
    if (!isWhole) throw new PageError(`page ${page} is broken`);
    yield node;
  }
}

/** Bytes of header, key and, in a leaf, the data or its place. */
function bytesOf(node: Buffer, page: Buffer): number {
  const keyed = NODE_HEADER_BYTES + node.readUInt16LE(6);
  if (page.readUInt16LE(18) === BRANCH) return keyed;
  return keyed + (node.readUInt16LE(4) & BIG_DATA ? 8 : node.readUInt32LE(0));
}

/** 48 bits, at the place where a leaf's node has the length of its data and its flags. */
function childOf(node: Buffer): number {
  return node.readUIntLE(0, 6);
}

/** A page number that is no safe integer is after the end of any file. */
function numberAt(bytes: Buffer, offset: number): number {
  return Number(bytes.readBigUInt64LE(offset));
}

function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const found = readSync(file, bytes, 0, length, position);
  if (found < length) throw new PageError(`it ends after ${position + found} bytes`);
  return bytes;
}
