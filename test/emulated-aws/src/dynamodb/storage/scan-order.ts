const HASHES = 0x1_0000_0000;

/** Where a partition key stands in a scan: DynamoDB hashes it. */
export interface ScanPlace {
  readonly key: string;
  readonly hash: number;
}

export function scanPlaceOf(key: string): ScanPlace {
  return { key, hash: hashOf(key) };
}

export function compareInScan(one: ScanPlace, other: ScanPlace): number {
  if (one.hash !== other.hash) return one.hash - other.hash;
  return one.key < other.key ? -1 : Number(one.key > other.key);
}

/** Which of this many segments a scan finds a partition in. */
export function segmentOf({ hash }: ScanPlace, segments: number): number {
  return Math.floor((hash / HASHES) * segments);
}

/** FNV-1a, mixed once more so that keys which differ at their end do not stand side by side. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}
