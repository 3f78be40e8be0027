/**
 * Whether an allowed filter covers a requested one: every topic name that `requested` matches, `allowed` matches too.
 * A topic name is a filter without wildcards, so this decides publishing as well.
 */
export function covers(allowed: string, requested: string): boolean {
  // [MQTT-4.7.2-1]
  if (requested.startsWith('$') && /^[+#]/.test(allowed)) return false;
  const allowedLevels = levelsOf(allowed);
  const requestedLevels = levelsOf(requested);
  for (const [index, level] of allowedLevels.entries()) {
    // `a/#` includes `a` itself, so there need not be a level here.
    if (level === '#') return true;
    const asked = requestedLevels[index];
    if (asked === undefined || asked === '#') return false;
    if (level !== '+' && level !== asked) return false;
  }
  return requestedLevels.length === allowedLevels.length;
}

/** A topic name has at least one character, so these filters have a level more than they say [MQTT-4.7.3-1]. */
const EQUIVALENTS: Readonly<Record<string, string>> = { '#': '+/#', '/#': '/+/#' };

function levelsOf(filter: string): string[] {
  return (EQUIVALENTS[filter] ?? filter).split('/');
}
