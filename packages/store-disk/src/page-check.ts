import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  broken,
  Flag,
  HEADER_BYTES,
  type Meta,
  type Node,
  newestMeta,
  nodesOf,
  numberAt,
  PageError,
  type Tree,
} from './page-format.ts';

/** Pages that a transaction has taken and given back need not be in the file: those of the largest batch are fewer. */
const BYTES_AFTER_END_MAX = 1024 ** 3;

/** The records of a tree: those with data, or those that list the free pages under the transactions that left them. */
interface Records {
  readonly keyBytesMin: number;
  readonly keyBytesMax: number;
  readonly branchNodesMin: number;
  compare(one: Node, other: Node): number;
}

const DATA: Records = {
  keyBytesMin: 1,
  keyBytesMax: 511,
  branchNodesMin: 2,
  compare: (one, other) => one.compareKey(other),
};
const FREE_LISTS: Records = {
  keyBytesMin: 8,
  keyBytesMax: 8,
  branchNodesMin: 1,
  compare: (one, other) => one.numericKey - other.numericKey,
};

/**
 * Reads every page of an LMDB file that is in use. LMDB maps the file and trusts it: a page after the end of the file
 * kills the process (SIGBUS), and a broken one may. The size alone does not tell, since the last transaction may have
 * taken pages at the end, given them back, and never written them. An empty file is no LMDB file yet.
 *
 * LMDB cannot be asked to check: it has no check, `lmdb` offers none, and opening the file and reading all of it is no
 * check either. Of the same file of 8 MB, one that was cut to 2 MB ended the process with SIGBUS, and one with 4 KB of
 * random bytes with SIGSEGV; with twenty pages of random bytes all of it could be read, with a third of the entries
 * missing and no error. A second process that opened it first would survive the first two cases, and miss the third;
 * and much that can be read ends a process that writes.
 *
 * @throws {PageError} when a page that is in use is not there, or is not what it should be.
 */
export function checkPages(path: string): void {
  const file = openSync(path, 'r+');
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new PageError('it is no file');
    if (stats.size > 0) new PageCheck(file, stats.size).run();
  } finally {
    closeSync(file);
  }
}

class PageCheck {
  readonly #file: number;
  readonly #fileBytes: number;
  readonly #meta: Meta;
  /** One for each page that is in use. */
  readonly #isUsed: Uint8Array;
  #last: Node | undefined;
  #isLastOfBranch = false;

  constructor(file: number, fileBytes: number) {
    this.#file = file;
    this.#fileBytes = fileBytes;
    this.#meta = newestMeta((position, length) => this.#read(position, length));
    const { lastPage, pageBytes } = this.#meta;
    if ((lastPage + 1) * pageBytes > fileBytes + BYTES_AFTER_END_MAX) throw this.#short(lastPage);
    this.#isUsed = new Uint8Array(lastPage + 1);
  }

  run(): void {
    this.#tree(this.#meta.data, DATA, (node) => {
      if (node.hasOverflow) this.#overflow(node);
    });
    const lists: Buffer[] = [];
    this.#tree(this.#meta.freeList, FREE_LISTS, (node) => {
      lists.push(node.hasOverflow ? this.#overflowValue(node) : node.value);
    });
    for (const list of lists) this.#freePages(list);
  }

  #tree({ root, depth }: Tree, records: Records, visit: (node: Node) => void): void {
    this.#last = undefined;
    if (root !== undefined) this.#subtree(root, depth, records, visit);
  }

  #subtree(page: number, depth: number, records: Records, visit: (node: Node) => void): void {
    const nodes = this.#nodes(page, depth > 1 ? Flag.Branch : Flag.Leaf);
    if (depth > 1 && nodes.length < records.branchNodesMin) throw broken(page);
    for (const [index, node] of nodes.entries()) {
      // The first key of a branch means nothing.
      if (depth === 1 || index > 0) this.#ascend(page, node, depth > 1, records);
      if (depth > 1) this.#subtree(node.child, depth - 1, records, visit);
      else visit(node);
    }
  }

  /** A key of a branch may be that of the first leaf below it. */
  #ascend(page: number, node: Node, isOfBranch: boolean, records: Records): void {
    if (node.keyBytes < records.keyBytesMin || node.keyBytes > records.keyBytesMax) throw broken(page);
    const order = this.#last === undefined ? 1 : records.compare(node, this.#last);
    if (order < 0 || (order === 0 && !this.#isLastOfBranch)) throw broken(page);
    this.#last = node;
    this.#isLastOfBranch = isOfBranch;
  }

  #nodes(page: number, flag: number): readonly Node[] {
    this.#use(page, 1);
    const { pageBytes } = this.#meta;
    const bytes = this.#read(page * pageBytes, pageBytes);
    this.#checkHeader(bytes, page, flag);
    return nodesOf(bytes, page);
  }

  /** LMDB takes a page of a later transaction for one that it has in memory. */
  #checkHeader(bytes: Buffer, page: number, flag: number): void {
    if (numberAt(bytes, 0) !== page) throw new PageError(`page ${page} holds something else`);
    if (bytes.readUInt16LE(18) !== flag) throw new PageError(`page ${page} is of another kind`);
    if (bytes.readBigUInt64LE(8) > this.#meta.transaction) throw broken(page);
  }

  /** A value that did not fit into its node: a page with a header, and the pages after it. Returns its first byte's place. */
  #overflow({ overflow: { page, pages }, valueBytes }: Node): number {
    const { pageBytes } = this.#meta;
    this.#use(page, pages);
    const header = this.#read(page * pageBytes, HEADER_BYTES);
    this.#checkHeader(header, page, Flag.Overflow);
    const isWhole = header.readUInt32LE(20) === pages && HEADER_BYTES + valueBytes <= pages * pageBytes;
    if (!isWhole) throw broken(page);
    return page * pageBytes + HEADER_BYTES;
  }

  #overflowValue(node: Node): Buffer {
    return this.#read(this.#overflow(node), node.valueBytes);
  }

  /** A length, and so many numbers: each is a page, is empty, or is minus the length of the block that begins next. */
  #freePages(list: Buffer): void {
    const length = list.length < 8 ? Number.NaN : Number(list.readBigUInt64LE(0));
    if (!(8 * (length + 1) <= list.length)) throw new PageError('its list of free pages is broken');
    for (let index = 1; index <= length; index += 1) {
      const entry = Number(list.readBigInt64LE(8 * index));
      if (entry === 0) continue;
      if (entry < 0) index += 1;
      const page = index <= length ? Number(list.readBigInt64LE(8 * index)) : 0;
      this.#assertFree(page, entry < 0 ? -entry : 1);
    }
  }

  #assertFree(page: number, pages: number): void {
    const isListed = page >= 2 && page + pages <= this.#isUsed.length;
    const isUsed = isListed && this.#isUsed.subarray(page, page + pages).includes(1);
    if (!isListed || isUsed) throw new PageError(`page ${page} is free and is not`);
  }

  /** Each page is used at one place only. */
  #use(page: number, pages: number): void {
    const end = page + pages;
    if (page < 2 || pages < 1 || end > this.#isUsed.length) {
      throw new PageError(`it refers to a page ${page}, which it has not`);
    }
    if (end * this.#meta.pageBytes > this.#fileBytes) throw this.#short(end - 1);
    const used = this.#isUsed.subarray(page, end);
    if (used.includes(1)) throw new PageError(`page ${page} is in use twice`);
    used.fill(1);
  }

  #short(page: number): PageError {
    return new PageError(`it ends after ${this.#fileBytes} bytes, before its page ${page}`);
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    const found = readSync(this.#file, bytes, 0, length, position);
    if (found < length) throw new PageError(`it ends after ${position + found} bytes`);
    return bytes;
  }
}
