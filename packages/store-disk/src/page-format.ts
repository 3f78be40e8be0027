/** The damage of a file, in half a sentence. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

/**
 * The parts of LMDB's file format (version 2, 64 bit, little-endian) that say where its pages and records are. `lmdb` is
 * pinned to one version; another format has another version number, and is refused.
 */
export const HEADER_BYTES = 24;
const META_BYTES = HEADER_BYTES + 136;
/** The kinds of pages. */
export const Flag = { Branch: 0x01, Leaf: 0x02, Overflow: 0x04, Meta: 0x08 } as const;

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
/** Its keys are integers; the rest are the options of every open: `openFile` in `database.ts`. */
const FREE_LIST_FLAGS = 0x4008;
const DATA_FLAGS = 0;
const NODE_HEADER_BYTES = 8;
/** A page number, a transaction and a number of pages. */
const OVERFLOW_PLACE_BYTES = 24;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 65_536;
/** Its data stands on other pages. LMDB's other flags are for values of a kind that Apus does not store. */
const BIG_DATA = 0x01;

export interface Tree {
  /** Undefined if there is nothing. */
  readonly root: number | undefined;
  readonly depth: number;
}

export interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: bigint;
  readonly freeList: Tree;
  readonly data: Tree;
}

/** @throws {PageError} when this is not the meta page of that number in a file that Apus has made */
function metaOf(bytes: Buffer, page: 0 | 1): Meta {
  if (bytes.readUInt32LE(24) !== MAGIC) throw new PageError('it does not begin as one');
  const version = bytes.readUInt32LE(28) & 0xffff;
  if (version !== DATA_VERSION) throw new PageError(`LMDB wrote it in its format ${version}`);
  const pageBytes = bytes.readUInt32LE(48);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || pageBytes & (pageBytes - 1)) {
    throw new PageError(`its pages have ${pageBytes} bytes`);
  }
  const transaction = bytes.readBigUInt64LE(152);
  const isWhole =
    numberAt(bytes, 0) === page &&
    bytes.readUInt16LE(18) === Flag.Meta &&
    bytes.readUInt16LE(52) === FREE_LIST_FLAGS &&
    bytes.readUInt16LE(100) === DATA_FLAGS &&
    // Transactions write the two meta pages in turn, and LMDB finds one by the number of the other.
    (transaction === 0n || Number(transaction & 1n) === page);
  if (!isWhole) throw broken(page);
  const freeList = treeOf(bytes.subarray(48), page);
  return {
    pageBytes,
    lastPage: numberAt(bytes, 144),
    transaction,
    freeList,
    data: treeOf(bytes.subarray(96), page),
  };
}

/**
 * The meta page of the last transaction.
 *
 * @throws {PageError} when there are no two pages of the same file, of which one follows the other
 */
export function newestMeta(read: (position: number, length: number) => Buffer): Meta {
  const first = metaOf(read(0, META_BYTES), 0);
  const second = metaOf(read(first.pageBytes, META_BYTES), 1);
  const distance = first.transaction - second.transaction;
  if (distance < -1n || distance > 1n || first.pageBytes !== second.pageBytes) {
    throw new PageError('its first two pages do not fit together');
  }
  return distance >= 0n ? first : second;
}

function treeOf(bytes: Buffer, page: number): Tree {
  const root = bytes.readBigUInt64LE(40) === NO_PAGE ? undefined : numberAt(bytes, 40);
  const depth = bytes.readUInt16LE(6);
  if ((root === undefined) !== (depth === 0)) throw broken(page);
  return { root, depth };
}

/** An entry of a page: it begins with its header, the key follows, and in a leaf the value or its place. */
export class Node {
  readonly offset: number;
  readonly #page: Buffer;

  constructor(page: Buffer, offset: number) {
    this.#page = page;
    this.offset = offset;
  }

  /** Where it begins, how long it is, and whether LMDB would make it so: two entries fit into a page. */
  get isWhole(): boolean {
    const page = this.#page;
    const bytesMax = Math.min((((page.length - HEADER_BYTES) / 2) & -2) - 2, page.length - this.offset);
    if (this.offset % 2 !== 0 || bytesMax < NODE_HEADER_BYTES || this.#keyEnd - this.offset > bytesMax)
      return false;
    return this.length <= bytesMax && (!this.#isOfLeaf || (this.#flags & ~BIG_DATA) === 0);
  }

  get length(): number {
    const valueBytes = this.hasOverflow ? OVERFLOW_PLACE_BYTES : this.valueBytes;
    return this.#keyEnd - this.offset + (this.#isOfLeaf ? valueBytes : 0);
  }

  get keyBytes(): number {
    return this.#page.readUInt16LE(this.offset + 6);
  }

  /** Below 0 if its key is before the other's, byte by byte. */
  compareKey(other: Node): number {
    const [start, otherStart] = [this.#keyStart, other.#keyStart];
    return this.#page.compare(other.#page, otherStart, other.#keyEnd, start, this.#keyEnd);
  }

  get numericKey(): number {
    return numberAt(this.#page, this.#keyStart);
  }

  /** In a branch: 48 bits, at the place where a leaf has the length of its value and its flags. */
  get child(): number {
    return this.#page.readUIntLE(this.offset, 6);
  }

  get hasOverflow(): boolean {
    return this.#isOfLeaf && (this.#flags & BIG_DATA) !== 0;
  }

  get valueBytes(): number {
    return this.#page.readUInt32LE(this.offset);
  }

  get value(): Buffer {
    return this.#page.subarray(this.#keyEnd, this.offset + this.length);
  }

  get overflow(): { readonly page: number; readonly pages: number } {
    return { page: numberAt(this.#page, this.#keyEnd), pages: numberAt(this.#page, this.#keyEnd + 16) };
  }

  get #keyStart(): number {
    return this.offset + NODE_HEADER_BYTES;
  }

  get #keyEnd(): number {
    return this.#keyStart + this.keyBytes;
  }

  get #flags(): number {
    return this.#page.readUInt16LE(this.offset + 4);
  }

  get #isOfLeaf(): boolean {
    return this.#page.readUInt16LE(18) === Flag.Leaf;
  }
}

/**
 * The entries of a page in the order of their keys. They fill the page from its upper bound to its end without a gap:
 * LMDB moves them by their lengths.
 *
 * @throws {PageError} when they do not
 */
export function nodesOf(bytes: Buffer, page: number): readonly Node[] {
  const lower = bytes.readUInt16LE(20);
  const upper = HEADER_BYTES + bytes.readUInt16LE(22);
  if (lower === 0 || lower % 2 !== 0 || HEADER_BYTES + lower > upper || upper > bytes.length)
    throw broken(page);
  const nodes: Node[] = [];
  /** The length of the entry that begins at an offset. */
  const lengths = new Uint16Array(bytes.length + 1);
  for (let place = HEADER_BYTES; place < HEADER_BYTES + lower; place += 2) {
    const node = new Node(bytes, HEADER_BYTES + bytes.readUInt16LE(place));
    if (!node.isWhole || lengths[node.offset] !== 0) throw broken(page);
    lengths[node.offset] = node.length;
    nodes.push(node);
  }
  let end = upper;
  for (let count = 0; count < nodes.length; count += 1) {
    const length = lengths[end] ?? 0;
    if (length === 0) throw broken(page);
    end += length + (length % 2);
  }
  if (end !== bytes.length) throw broken(page);
  return nodes;
}

export function broken(page: number): PageError {
  return new PageError(`page ${page} is broken`);
}

/** A page number that is no safe integer is after the end of any file. */
export function numberAt(bytes: Buffer, offset: number): number {
  return Number(bytes.readBigUInt64LE(offset));
}
