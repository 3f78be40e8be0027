export function rfc3339(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function timeOf(atMs: number | undefined): string | null {
  return atMs === undefined ? null : rfc3339(atMs);
}
