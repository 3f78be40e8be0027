import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalRequest, headerText, type SignedRequest } from './canonical-request.ts';
import type { Principal, Principals } from './credentials.ts';
import { ManagementError } from './management-error.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 'execute-api';
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/;

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
  const header = headerText(request, 'authorization');
  if (header === '') return refuse('MissingAuthenticationToken', 'Missing Authentication Token');
  const authorization = parseAuthorization(header);
  if (authorization === undefined) {
    return refuse('IncompleteSignature', `Not a valid key=value pair in Authorization header: '${header}'`);
  }
  const principal = verifier.principals.find(authorization.accessKeyId);
  if (principal === undefined || !tokenFits(request, principal)) {
    return refuse('UnrecognizedClient', 'The security token included in the request is invalid.');
  }
  const problem =
    scopeProblem(request, authorization, verifier) ??
    dateProblem(request, verifier) ??
    headersProblem(request, authorization) ??
    signatureProblem(request, authorization, principal);
  return problem === undefined ? principal : refuse('InvalidSignature', problem);
}

function refuse(type: string, message: string): ManagementError {
  return new ManagementError(403, `${type}Exception`, message);
}

function parseAuthorization(header: string): Authorization | undefined {
  const match = AUTHORIZATION.exec(header);
  if (match === null) return undefined;
  const [, accessKeyId = '', scope = '', signedHeaders = '', signature = ''] = match;
  return { accessKeyId, scope, signedHeaders: signedHeaders.split(';'), signature };
}

/** Temporary credentials are worth nothing without their token. */
function tokenFits(request: SignedRequest, principal: Principal): boolean {
  return headerText(request, 'x-amz-security-token') === principal.credentials.sessionToken;
}

function scopeProblem(
  request: SignedRequest,
  authorization: Authorization,
  verifier: Verifier,
): string | undefined {
  const day = headerText(request, 'x-amz-date').slice(0, 8);
  const expected = `${day}/${verifier.region}/${SERVICE}/aws4_request`;
  if (authorization.scope === expected) return undefined;
  return `Credential should be scoped to a valid date, region and service: '${expected}', not '${authorization.scope}'.`;
}

function dateProblem(request: SignedRequest, verifier: Verifier): string | undefined {
  const date = headerText(request, 'x-amz-date');
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
  if (missing.length === 0) return undefined;
  return `'${missing.join("', '")}' must be a 'SignedHeader' in the AWS Authorization.`;
}

function signatureProblem(
  request: SignedRequest,
  authorization: Authorization,
  principal: Principal,
): string | undefined {
  const canonical = canonicalRequest(request, authorization.signedHeaders);
  const stringToSign = [
    ALGORITHM,
    headerText(request, 'x-amz-date'),
    authorization.scope,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n');
  let key: Buffer = Buffer.from(`AWS4${principal.credentials.secretAccessKey}`);
  for (const part of authorization.scope.split('/')) key = hmac(key, part);
  const signature = hmac(key, stringToSign);
  if (timingSafeEqual(signature, Buffer.from(authorization.signature, 'hex'))) return undefined;
  return 'The request signature we calculated does not match the signature you provided.';
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
