import { createHash } from 'node:crypto';
import type { CallerIdentity } from '../gateway/events.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { allows } from '../gateway/policy.ts';
import type { UpgradeRequest } from '../gateway/read-handshake.ts';
import { ManagementError } from '../management/error.ts';
import type { IamCaller } from './iam-caller.ts';
import { verifySignature } from './signature-v4.ts';

const NO_BODY = createHash('sha256').digest('hex');

/** The check of `authorizationType: AWS_IAM` does at `$connect`. Undefined: the handshake is refused with 403. */
export function authorizeByIam(
  { settings }: Pick<Gateway, 'settings'>,
  callers: readonly IamCaller[],
  request: UpgradeRequest,
): CallerIdentity | undefined {
  const { accountId, apiId, limits, region, signatureNow, stage } = settings;
  const { url: target = '', headers } = request;
  const caller = verifySignature(
    { method: 'GET', target, headers, bodyHash: NO_BODY },
    {
      principals: { find: (id) => callers.find(({ credentials }) => credentials.accessKeyId === id) },
      region,
      nowMs: signatureNow(),
      skewMs: limits.signatureSkewMs,
      allowsQuery: true,
    },
  );
  if (caller instanceof ManagementError) return undefined;
  const route = `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/$connect`;
  const mayInvoke = caller.policyDocument === undefined || allows(caller.policyDocument, route);
  return mayInvoke ? { ...caller.identity, accessKey: caller.credentials.accessKeyId } : undefined;
}
