import { AwsV4Signer } from 'aws4fetch';
import { type AwsSigning, signingFor } from './authorize.ts';

/** API Gateway accepts a signature for five minutes at most; this is also its default. */
const EXPIRES_SECONDS = 300;

/**
 * Signs the address of a deployment with `authentication: { iam }`, for a client to connect to within five minutes. It
 * connects as the signer, in any program: a backend signs for one of its users with a role session of theirs.
 *
 * @param url `wss://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com/mqtt`; its query is signed as well
 * @throws {TypeError} without credentials, or without a Region
 * @example
 * const { Credentials } = await sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: user.id }));
 * response.json({ url: await signConnectUrl(url, { credentials: credentialsFrom(Credentials) }) });
 */
export async function signConnectUrl(url: string, aws: AwsSigning = {}): Promise<string> {
  const unsigned = new URL(url);
  unsigned.searchParams.set('X-Amz-Expires', String(EXPIRES_SECONDS));
  const signer = new AwsV4Signer({
    method: 'GET',
    url: unsigned.href,
    service: 'execute-api',
    signQuery: true,
    ...(await signingFor(url, aws)),
  });
  return (await signer.sign()).url.href;
}
