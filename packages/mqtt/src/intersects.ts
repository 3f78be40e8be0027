import { HASH, isFinalHash, isHiddenFrom, PLUS, SLASH } from './topic.ts';

/** Whether two filters have a topic name in common: there is one that both match. Allocates nothing. */
export function intersects(one: string, other: string): boolean {
  // [MQTT-4.7.2-1]
  if (isHiddenFrom(one, other) || isHiddenFrom(other, one)) return false;
  let i = 0;
  let j = 0;
  for (;;) {
    const head = one.charCodeAt(i);
    const otherHead = other.charCodeAt(j);
    if (head === HASH || otherHead === HASH) return true;
    if (head === PLUS || otherHead === PLUS) {
      i = endOfLevel(one, i);
      j = endOfLevel(other, j);
    } else {
      while (i < one.length && one.charCodeAt(i) !== SLASH) {
        if (one.charCodeAt(i) !== other.charCodeAt(j)) return false;
        i += 1;
        j += 1;
      }
    }
    if (i === one.length) return j === other.length || includesParent(other, j);
    if (j === other.length) return includesParent(one, i);
    if (one.charCodeAt(i) !== SLASH || other.charCodeAt(j) !== SLASH) return false;
    i += 1;
    j += 1;
  }
}

function endOfLevel(filter: string, from: number): number {
  const slash = filter.indexOf('/', from);
  return slash === -1 ? filter.length : slash;
}

/** `a/#` includes `a`. `/#` does not, as a topic name has at least one character [MQTT-4.7.3-1]. */
function includesParent(filter: string, slash: number): boolean {
  return slash > 0 && isFinalHash(filter, slash);
}
