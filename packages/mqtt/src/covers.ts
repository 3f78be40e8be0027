import { HASH, isFinalHash, isHiddenFrom, PLUS, SLASH } from './topic.ts';

/**
 * Whether an allowed filter covers a requested one: every topic name that `requested` matches, `allowed` matches too.
 * A topic name is a filter without wildcards, so this decides publishing as well. Allocates nothing.
 */
export function covers(allowed: string, requested: string): boolean {
  // [MQTT-4.7.2-1]
  if (isHiddenFrom(allowed, requested)) return false;
  let a = 0;
  let r = 0;
  for (;;) {
    const head = allowed.charCodeAt(a);
    if (head === HASH) return true;
    if (requested.charCodeAt(r) === HASH) return head === PLUS && asksForOneMore(allowed, a, requested);
    if (head === PLUS) {
      a += 1;
      while (r < requested.length && requested.charCodeAt(r) !== SLASH) r += 1;
    } else {
      while (a < allowed.length && allowed.charCodeAt(a) !== SLASH) {
        if (allowed.charCodeAt(a) !== requested.charCodeAt(r)) return false;
        a += 1;
        r += 1;
      }
    }
    // `a/#` includes `a` itself.
    if (r === requested.length) return a === allowed.length || isFinalHash(allowed, a);
    if (a === allowed.length || requested.charCodeAt(r) !== SLASH) return false;
    a += 1;
    r += 1;
  }
}

/**
 * A topic name has at least one character [MQTT-4.7.3-1], so `#` and `/#` have a level more than they say: `+/#` covers
 * `#`, and `/+/#` covers `/#`.
 */
function asksForOneMore(allowed: string, plus: number, requested: string): boolean {
  return isFinalHash(allowed, plus + 1) && (requested === '#' || requested === '/#');
}
