/**
 * One write stands for at most this share of a quota: then the count of a full quota is nearly always wrong by an
 * eighth at most.
 */
const SHARE_OF_QUOTA = 1 / 64;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** How many one write stands for: a power of two, 1 for a quota below 128, which is counted exactly. */
export function sampleFor(maximum: number, sampleMax: number): number {
  const wanted = Math.min(maximum * SHARE_OF_QUOTA, sampleMax);
  return wanted < 2 ? 1 : 2 ** Math.floor(Math.log2(wanted));
}

/** Whether it is one of those that are written: always the same, for as long as it is there. */
export function isSampled(id: string, sample: number): boolean {
  return sample === 1 || hashOf(id) % sample === 0;
}

/** FNV-1a, with its bits mixed once more: those of a random identifier are spread over all of them. */
function hashOf(id: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), FNV_PRIME);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
