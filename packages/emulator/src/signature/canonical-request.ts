/** A request in the canonical form that signer and verifier share. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** SHA-256 of the body, in hexadecimal. */
  readonly bodyHash: string;
}

export function canonicalRequest(request: SignedRequest, signedHeaders: readonly string[]): string {
  const { path, query } = partsOf(request.target);
  return [
    request.method,
    // Every service except S3 encodes the path once more than it was sent: `=` in a connection id becomes `%253D` here.
    path.split('/').map(uriEncode).join('/'),
    canonicalQuery(query),
    ...signedHeaders.map((name) => `${name}:${headerText(request, name).trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    request.bodyHash,
  ].join('\n');
}

/** A query may have a question mark in it. */
export function partsOf(target: string): { readonly path: string; readonly query: string } {
  const [path = '', ...rest] = target.split('?');
  return { path, query: rest.join('?') };
}

export function headerText(request: Pick<SignedRequest, 'headers'>, name: string): string {
  // A claimed signature names the headers, perhaps one that is inherited.
  const value = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined;
  return typeof value === 'string' ? value : (value?.join(',') ?? '');
}

function canonicalQuery(query: string): string {
  const pairs = [...new URLSearchParams(query)].map(
    ([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`,
  );
  return pairs.sort().join('&');
}

function uriEncode(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
