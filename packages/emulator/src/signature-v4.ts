import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Principal, Principals } from './credentials.ts';
import { ManagementError } from './management-error.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 'execute-api';

export interface SignedRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** SHA-256 of the body, in hexadecimal. */
  readonly bodyHash: string;
}

export interface Verifier {
  readonly principals: Principals;
  readonly region: string;
  readonly nowMs: number;
  readonly skewMs: number;
}

interface Authorization {
  readonly accessKeyId: string;
  /** `20260101/us-east-1/execute-api/aws4_request` */
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

/**
 * Verifies AWS Signature Version 4 in the Authorization header and says who signed.
 *
 * The string to sign is built anew from what arrived; a signature in the query is not taken.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function verifySignature(request: SignedRequest, verifier: Verifier): Principal | ManagementError {
  const header = text(request.headers.authorization);
  if (header === '')
    return new ManagementError(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token');
  const authorization = parseAuthorization(header);
  if (authorization === undefined) {
    return new ManagementError(
      403,
      'IncompleteSignatureException',
      `Not a valid key=value pair in Authorization header: '${header}'`,
    );
  }
  const principal = verifier.principals.find(authorization.accessKeyId);
  if (principal === undefined || !tokenFits(request, principal)) {
    return new ManagementError(
      403,
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    );
  }
  const problem =
    scopeProblem(request, authorization, verifier) ??
    dateProblem(request, verifier) ??
    headersProblem(request, authorization);
  if (problem !== undefined) return new ManagementError(403, 'InvalidSignatureException', problem);
  const expected = sign(request, authorization, principal.credentials.secretAccessKey);
  if (equal(expected, authorization.signature)) return principal;
  return new ManagementError(
    403,
    'InvalidSignatureException',
    'The request signature we calculated does not match the signature you provided.',
  );
}

/** Whose key a request names, whether or not its signature is right. */
export function accessKeyIdOf(request: Pick<SignedRequest, 'headers'>): string | undefined {
  return parseAuthorization(text(request.headers.authorization))?.accessKeyId;
}

function parseAuthorization(header: string): Authorization | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  if (match === null) return undefined;
  const [, accessKeyId = '', scope = '', signedHeaders = '', signature = ''] = match;
  return { accessKeyId, scope, signedHeaders: signedHeaders.split(';'), signature };
}

/** Temporary credentials are worth nothing without their token. */
function tokenFits(request: SignedRequest, principal: Principal): boolean {
  return text(request.headers['x-amz-security-token']) === principal.credentials.sessionToken;
}

function scopeProblem(
  request: SignedRequest,
  authorization: Authorization,
  verifier: Verifier,
): string | undefined {
  const day = text(request.headers['x-amz-date']).slice(0, 8);
  const expected = `${day}/${verifier.region}/${SERVICE}/aws4_request`;
  if (authorization.scope === expected) return undefined;
  return `Credential should be scoped to a valid date, region and service: '${expected}', not '${authorization.scope}'.`;
}

function dateProblem(request: SignedRequest, verifier: Verifier): string | undefined {
  const date = text(request.headers['x-amz-date']);
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  if (match === null) return `X-Amz-Date must be in ISO 8601 basic format, not '${date}'.`;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const signedAtMs = Date.UTC(year, month - 1, day, hour, minute, second);
  if (signedAtMs < verifier.nowMs - verifier.skewMs) return `Signature expired: ${date}.`;
  if (signedAtMs > verifier.nowMs + verifier.skewMs) return `Signature not yet current: ${date}.`;
  return undefined;
}

/** What is not signed could be changed on the way: the host and everything of Amazon's must be. */
function headersProblem(request: SignedRequest, authorization: Authorization): string | undefined {
  const required = Object.keys(request.headers).filter(
    (name) => name === 'host' || name.startsWith('x-amz-'),
  );
  const missing = required.filter((name) => !authorization.signedHeaders.includes(name));
  if (missing.length > 0)
    return `'${missing.join("', '")}' must be a 'SignedHeader' in the AWS Authorization.`;
  const absent = authorization.signedHeaders.filter((name) => request.headers[name] === undefined);
  return absent.length > 0 ? `The signed header '${absent[0]}' is not in the request.` : undefined;
}

function sign(request: SignedRequest, authorization: Authorization, secretAccessKey: string): string {
  const stringToSign = [
    ALGORITHM,
    text(request.headers['x-amz-date']),
    authorization.scope,
    createHash('sha256').update(canonicalRequest(request, authorization.signedHeaders)).digest('hex'),
  ].join('\n');
  let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
  for (const part of authorization.scope.split('/')) key = hmac(key, part);
  return hmac(key, stringToSign).toString('hex');
}

function canonicalRequest(request: SignedRequest, signedHeaders: readonly string[]): string {
  const [path = '', query = ''] = request.target.split('?', 2);
  return [
    request.method,
    // Every service but S3 encodes the path once more than it was sent: `=` in a connection id is `%253D` here.
    path.split('/').map(uriEncode).join('/'),
    canonicalQuery(query),
    ...signedHeaders.map((name) => `${name}:${text(request.headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    request.bodyHash,
  ].join('\n');
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

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

function equal(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.join(',') ?? '');
}
