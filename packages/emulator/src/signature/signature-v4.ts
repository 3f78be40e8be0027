import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { ManagementError } from '../management/error.ts';
import { canonicalRequest, partsOf, type SignedRequest } from './canonical-request.ts';
import {
  type ClaimedSignature,
  claimedInHeader,
  claimedInQuery,
  SIGNATURE_PARAMETER,
} from './claimed-signature.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 'execute-api';

/** The signer, as far as a signature reveals it. */
export interface Signer {
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

export interface Verifier<S extends Signer> {
  readonly principals: { find(accessKeyId: string): S | undefined };
  readonly region: string;
  readonly nowMs: number;
  readonly skewMs: number;
  /** The name of the service in the scope. @default execute-api */
  readonly service?: string;
  /** Whether the query may carry the signature. @default the header alone */
  readonly allowsQuery?: boolean;
}

/**
 * Verifies AWS Signature Version 4 in the Authorization header, or in the query if allowed, and returns the signer. The
 * string to sign is computed anew from the received request.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function verifySignature<S extends Signer>(
  request: SignedRequest,
  verifier: Verifier<S>,
): S | ManagementError {
  const header = request.headers.authorization;
  const { path, query } = partsOf(request.target);
  const parameters = new URLSearchParams(query);
  if (header !== undefined && header !== '') {
    return verifyClaim(request, claimedInHeader(request), verifier, `Authorization header: '${header}'`);
  }
  if (verifier.allowsQuery !== true || !parameters.has(SIGNATURE_PARAMETER)) {
    return refuse('MissingAuthenticationToken', 'Missing Authentication Token');
  }
  const claim = claimedInQuery(parameters);
  parameters.delete(SIGNATURE_PARAMETER);
  return verifyClaim({ ...request, target: `${path}?${parameters}` }, claim, verifier, 'query');
}

/** `request` is without its signature. */
function verifyClaim<S extends Signer>(
  request: SignedRequest,
  claim: ClaimedSignature | undefined,
  verifier: Verifier<S>,
  where: string,
): S | ManagementError {
  if (claim === undefined) {
    return refuse('IncompleteSignature', `Not a valid key=value pair in ${where}`);
  }
  const principal = verifier.principals.find(claim.accessKeyId);
  // Temporary credentials are invalid without their token.
  if (principal === undefined || claim.sessionToken !== principal.credentials.sessionToken) {
    return refuse('UnrecognizedClient', 'The security token included in the request is invalid.');
  }
  const problem =
    scopeProblem(claim, verifier) ??
    dateProblem(claim, verifier) ??
    headersProblem(request, claim) ??
    signatureProblem(request, claim, principal.credentials);
  return problem === undefined ? principal : refuse('InvalidSignature', problem);
}

function refuse(type: string, message: string): ManagementError {
  return new ManagementError(403, `${type}Exception`, message);
}

function scopeProblem(
  { date, scope }: ClaimedSignature,
  { region, service = SERVICE }: Pick<Verifier<Signer>, 'region' | 'service'>,
): string | undefined {
  const expected = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
  if (scope === expected) return undefined;
  return `Credential should be scoped to a valid date, region and service: '${expected}', not '${scope}'.`;
}

/** AWS promises only the skew; no page says that it accepts a signature for longer, as S3 does. */
function dateProblem(
  { date, expiresSeconds }: ClaimedSignature,
  { nowMs, skewMs }: { nowMs: number; skewMs: number },
): string | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  if (match === null) return `X-Amz-Date must be in ISO 8601 basic format, not '${date}'.`;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const signedAtMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const lifeMs = expiresSeconds === undefined ? skewMs : Math.min(skewMs, expiresSeconds * 1000);
  if (signedAtMs < nowMs - lifeMs) return `Signature expired: ${date}.`;
  if (signedAtMs > nowMs + skewMs) return `Signature not yet current: ${date}.`;
  return undefined;
}

/** An unsigned header could be changed on the way: the host and all of Amazon's headers must be signed. */
function headersProblem(request: SignedRequest, { signedHeaders }: ClaimedSignature): string | undefined {
  const required = Object.keys(request.headers).filter(
    (name) => name === 'host' || name.startsWith('x-amz-'),
  );
  const missing = required.filter((name) => !signedHeaders.includes(name));
  if (missing.length === 0) return undefined;
  return `'${missing.join("', '")}' must be a 'SignedHeader' in the AWS Authorization.`;
}

function signatureProblem(
  request: SignedRequest,
  claim: ClaimedSignature,
  { secretAccessKey }: Signer['credentials'],
): string | undefined {
  const canonical = canonicalRequest(request, claim.signedHeaders);
  const stringToSign = [
    ALGORITHM,
    claim.date,
    claim.scope,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n');
  let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
  for (const part of claim.scope.split('/')) key = hmac(key, part);
  const signature = hmac(key, stringToSign);
  if (timingSafeEqual(signature, Buffer.from(claim.signature, 'hex'))) return undefined;
  return 'The request signature we calculated does not match the signature you provided.';
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
