/** The part of `fetch` that is used. */
export type Fetch = typeof globalThis.fetch;

export interface FetchLimits {
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

/**
 * The body of a GET. A redirect is an error: it would lead to an address that the operator has not named.
 *
 * @throws if the answer is not 200, comes too late or is too large
 */
export async function fetchText(
  fetch: Fetch,
  url: string,
  { timeoutMs, bytesMax }: FetchLimits,
): Promise<string> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  return await readText(response, url, bytesMax);
}

async function readText(response: Response, url: string, bytesMax: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    // Leaving the loop cancels the rest.
    if (bytes > bytesMax) throw new Error(`${url} answered more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
