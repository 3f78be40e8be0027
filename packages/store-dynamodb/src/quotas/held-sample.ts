/**
 * One write stands for at most this share of a quota. Then the count of a full quota is nearly always wrong by an
 * eighth at most.
 */
const SHARE_OF_QUOTA = 1 / 64;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** How many changes one write stands for: a power of two; 1 for a quota below 128, which is counted exactly. */
export function sampleFor(maximum: number, sampleMax: number): number {
  const wanted = Math.min(maximum * SHARE_OF_QUOTA, sampleMax);
  return wanted < 2 ? 1 : 2 ** Math.floor(Math.log2(wanted));
}

/** Whether this one is written: the same answer at its beginning and its end. */
export function isSampled(id: string, sample: number): boolean {
  return sample === 1 || hashOf(id) % sample === 0;
}

/** FNV-1a, with its bits mixed once more, so that all bits of a random identifier count. */
function hashOf(id: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), FNV_PRIME);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
