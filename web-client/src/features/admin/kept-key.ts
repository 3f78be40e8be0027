/** The key of the broker's API, in memory as long as the page is open. */
let kept: string | undefined;

export function keptKey(): string | undefined {
  return kept;
}

export function keepKey(key: string): void {
  kept = key;
}
