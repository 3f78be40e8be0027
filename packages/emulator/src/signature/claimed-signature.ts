import { headerText, type SignedRequest } from './canonical-request.ts';

/** The signature that a request claims, in the Authorization header or in its query. */
export interface ClaimedSignature {
  readonly accessKeyId: string;
  /** `20260101/us-east-1/execute-api/aws4_request` */
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** `20260101T000000Z` */
  readonly date: string;
  readonly sessionToken: string | undefined;
  /** In seconds; undefined where the request does not say. */
  readonly expiresSeconds: number | undefined;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/;
const CREDENTIAL = /^([^/]+)\/(.+)$/;
const SIGNATURE = /^[0-9a-f]{64}$/;

/** The parameter that the signature itself stands in: the one that is not signed. */
export const SIGNATURE_PARAMETER = 'X-Amz-Signature';

/** Undefined: it is not well-formed. */
export function claimedInHeader(request: SignedRequest): ClaimedSignature | undefined {
  const match = AUTHORIZATION.exec(headerText(request, 'authorization'));
  if (match === null) return undefined;
  const [, accessKeyId = '', scope = '', signedHeaders = '', signature = ''] = match;
  return {
    accessKeyId,
    scope,
    signedHeaders: signedHeaders.split(';'),
    signature,
    date: headerText(request, 'x-amz-date'),
    sessionToken: headerText(request, 'x-amz-security-token') || undefined,
    expiresSeconds: undefined,
  };
}

/** Undefined: it is not well-formed. A parameter that comes twice is not taken. */
export function claimedInQuery(query: URLSearchParams): ClaimedSignature | undefined {
  const names = [...query.keys()];
  const one = (name: string) => (names.indexOf(name) === names.lastIndexOf(name) ? query.get(name) : null);
  const [, accessKeyId, scope] = CREDENTIAL.exec(one('X-Amz-Credential') ?? '') ?? [];
  const signature = one(SIGNATURE_PARAMETER) ?? '';
  const expires = one('X-Amz-Expires');
  if (one('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256' || !SIGNATURE.test(signature)) return undefined;
  if (accessKeyId === undefined || scope === undefined) return undefined;
  if (expires !== null && !/^\d{1,6}$/.test(expires)) return undefined;
  return {
    accessKeyId,
    scope,
    signedHeaders: (one('X-Amz-SignedHeaders') ?? '').split(';'),
    signature,
    date: one('X-Amz-Date') ?? '',
    sessionToken: one('X-Amz-Security-Token') ?? undefined,
    expiresSeconds: expires === null ? undefined : Number(expires),
  };
}
