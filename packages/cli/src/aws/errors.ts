import { MissingPackageError } from '@apus/door';

const EXPIRED = 'Your credentials have expired: log in again.';
const SENTENCES: Readonly<Record<string, string>> = {
  CredentialsProviderError:
    'No credentials for AWS were found. Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; with IAM Identity Center, run `aws sso login` first.',
  ExpiredTokenException: EXPIRED,
  ExpiredToken: EXPIRED,
  UnrecognizedClientException: 'AWS does not know the access key: look at AWS_ACCESS_KEY_ID or the profile.',
  InvalidSignatureException: 'The secret does not belong to the access key: look at AWS_SECRET_ACCESS_KEY.',
};

const DENIED = new Set([
  'AccessDeniedException',
  'AccessDenied',
  'ForbiddenException',
  'UnauthorizedException',
]);
const UNREACHED = new Set(['ENOTFOUND', 'ECONNREFUSED', 'ETIMEDOUT', 'EAI_AGAIN']);

export interface AwsCall {
  readonly service: string;
  /** @default the Region of the AWS profile */
  readonly region: string | undefined;
  /** The advice if the credentials do not allow the call. */
  readonly denied: string;
}

/** The failure of an AWS call, in a sentence that says what to do. */
export function awsSentenceOf(error: unknown, call: AwsCall): string {
  const { name = '', message = String(error) } = error as Partial<Error>;
  return adviceOn(error, call) ?? `${call.service} has not answered as it should (${name}: ${message}).`;
}

/** What to do about the failure of an AWS call; undefined if that is unknown. */
export function adviceOn(error: unknown, { service, region, denied }: AwsCall): string | undefined {
  const { name = '', message = String(error), code } = error as Partial<NodeJS.ErrnoException>;
  if (error instanceof MissingPackageError) return message;
  if (DENIED.has(name)) return `${denied} (${service} has refused: ${name}.)`;
  if (/Region is missing/.test(message))
    return 'No Region is set. Say --region eu-west-1 (or another one), or set AWS_REGION, or `region` in your AWS profile.';
  if (code !== undefined && UNREACHED.has(code)) {
    const where = region === undefined ? 'your Region' : `"${region}"`;
    return `AWS cannot be reached in ${where}: ${service} does not answer${endpointOf(error)} (${code}). Is that a Region of AWS, and enabled for the account?`;
  }
  return SENTENCES[name];
}

/** The host name in Node.js's error: ` at lambda.eu-west-1.amazonaws.com`. */
function endpointOf(error: unknown): string {
  const { hostname, address, port } = error as Partial<Record<'hostname' | 'address' | 'port', unknown>>;
  if (hostname !== undefined) return ` at ${hostname}`;
  return address === undefined ? '' : ` at ${address}:${port}`;
}
