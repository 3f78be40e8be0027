import { AwsV4Signer } from 'aws4fetch';

/** Credentials of AWS, as the SDK's providers give them. */
export interface AwsCredentials {
  /** `AKIA…`, or `ASIA…` for temporary credentials. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** Signs requests for a deployment with `httpPublish: 'iam'`. */
export interface AwsSigning {
  /**
   * Called before each request, like a provider of the AWS SDK: `fromNodeProviderChain()` is one.
   *
   * @default the environment's AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, as in Lambda
   */
  readonly credentials?: AwsCredentials | (() => Promise<AwsCredentials>);
  /** @default the Region in the URL, or AWS_REGION */
  readonly region?: string;
}

export interface Authorization {
  readonly key?: string | undefined;
  readonly aws?: AwsSigning | undefined;
}

type Headers = Record<string, string>;

/** Returns the headers of a request, with its credentials. */
export type Authorize = (url: string, headers: Headers, body: string) => Promise<Headers>;

/** @throws {TypeError} if there is both a key and a signature */
export function authorizeWith({ key, aws }: Authorization): Authorize {
  if (key !== undefined && aws !== undefined)
    throw new TypeError('A publisher has a key or signs for AWS, not both.');
  if (aws !== undefined) return (url, headers, body) => sign(aws, url, headers, body);
  if (key === undefined) return async (_url, headers) => headers;
  return async (_url, headers) => ({ ...headers, authorization: `Bearer ${key}` });
}

async function sign(aws: AwsSigning, url: string, headers: Headers, body: string): Promise<Headers> {
  const signer = new AwsV4Signer({
    method: 'POST',
    url,
    headers,
    body,
    service: 'lambda',
    ...(await signingFor(url, aws)),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}

/** Credentials and Region for a signer. */
export async function signingFor(
  url: string,
  { credentials = environmentCredentials, region = regionOf(url) }: AwsSigning,
): Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string; region: string }> {
  const { accessKeyId, secretAccessKey, sessionToken } =
    typeof credentials === 'function' ? await credentials() : credentials;
  return { accessKeyId, secretAccessKey, region, ...(sessionToken !== undefined && { sessionToken }) };
}

async function environmentCredentials(): Promise<AwsCredentials> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = process.env;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new TypeError(
      'There are no credentials in the environment: pass aws.credentials, as fromNodeProviderChain() of @aws-sdk/credential-providers.',
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: process.env.AWS_SESSION_TOKEN };
}

function regionOf(url: string): string {
  const { hostname } = new URL(url);
  const [, named] =
    /\.(?:lambda-url|execute-api)\.([a-z0-9-]+)\.(?:on\.aws|amazonaws\.com)/.exec(hostname) ?? [];
  const region = named ?? process.env.AWS_REGION;
  if (region !== undefined) return region;
  throw new TypeError(`The Region cannot be seen from ${url}: pass aws.region.`);
}
