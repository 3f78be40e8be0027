/** Matching as the specification tells it (4.7), level by level, to hold the quick ones against. */
export function naiveMatches(filter: string, name: string): boolean {
  if (name.startsWith('$') && /^[+#]/.test(filter)) return false;
  return levelsMatch(filter.split('/'), name.split('/'));
}

function levelsMatch(filter: readonly string[], name: readonly string[]): boolean {
  const [head, ...rest] = filter;
  if (head === undefined) return name.length === 0;
  if (head === '#') return true;
  const [level, ...others] = name;
  if (level === undefined) return false;
  return (head === '+' || head === level) && levelsMatch(rest, others);
}
