/**
 * Whether an allowed filter covers a requested one: every topic name that `requested` matches, `allowed` matches too.
 * A topic name is a filter without wildcards, so this decides publishing as well.
 */
export function covers(allowed: string, requested: string): boolean {
  // [MQTT-4.7.2-1]
  if (requested.startsWith('$') && /^[+#]/.test(allowed)) return false;
  // Every topic name has a first level, even if an empty one: the two mean the same.
  if (allowed === '+/#' && requested === '#') return true;
  const allowedLevels = allowed.split('/');
  const requestedLevels = requested.split('/');
  for (const [index, level] of allowedLevels.entries()) {
    // `a/#` includes `a` itself, so there need not be a level here.
    if (level === '#') return true;
    const asked = requestedLevels[index];
    if (asked === undefined || asked === '#') return false;
    if (level !== '+' && level !== asked) return false;
  }
  return requestedLevels.length === allowedLevels.length;
}
