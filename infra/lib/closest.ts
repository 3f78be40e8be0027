/** Above this number of changes another name was probably meant. */
const CHANGES_MAX = 3;

/**
 * The known name that was probably meant: another spelling (`frames-per-second`), or one that differs in a few letters.
 */
export function closestTo(name: string, known: readonly string[]): string | undefined {
  const distances = known.map((each) => [each, distanceOf(plain(name), plain(each))] as const);
  const [closest, distance] = distances.sort(([, a], [, b]) => a - b)[0] ?? ['', Number.POSITIVE_INFINITY];
  return distance <= Math.min(CHANGES_MAX, plain(name).length / 2) ? closest : undefined;
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/** The number of letters to change, add, remove, or swap with a neighbour. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const changed = (row[j - 1] ?? 0) + (isSame ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
