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
  const [path = '', query = ''] = request.target.split('?', 2);
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

export function headerText(request: Pick<SignedRequest, 'headers'>, name: string): string {
  const value = request.headers[name];
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
