import type { Identity } from '@apus/broker';
import type { IamConfiguration } from '@apus/identity';
import type { RequestContext } from '../events/gateway.ts';

/** Stands in `Identity.source`. */
const SOURCE = 'iam';

/** `arn:aws:iam::123456789012:user/path/ada` */
const USER = /^arn:[\w-]+:iam::\d{12}:user\/(?:.+\/)?([^/]+)$/;

/** `arn:aws:sts::123456789012:assumed-role/Role/session`, or with `federated-user/bob` at its end. */
const SESSION = /^arn:[\w-]+:sts::\d{12}:(?:assumed-role\/([^/]+)|(federated-user))\/([^/]+)$/;

const ROOT = /^arn:[\w-]+:iam::\d{12}:(root)$/;

/**
 * The identity of a signer, if the route of `$connect` asks for AWS_IAM. Undefined: API Gateway has not checked a
 * signature, or the caller is of an unknown kind.
 */
export function identityOfCaller(
  caller: RequestContext['identity'],
  { tenant, rules, clientIds, quotas }: IamConfiguration,
): Identity | undefined {
  const name = caller?.cognitoIdentityId || nameOf(caller?.userArn ?? '');
  if (name === undefined) return undefined;
  return {
    tenant,
    name,
    rules,
    source: SOURCE,
    ...(clientIds !== undefined && { clientIds }),
    ...(quotas !== undefined && { quotas }),
  };
}

/**
 * A user's name, or `{role}:{session}`. The caller of a role chooses the name of the session, so by that name alone a
 * caller with another role could be taken for a user. Names of IAM contain no colon [SEC-IAM-1].
 */
function nameOf(userArn: string): string | undefined {
  const [, user] = USER.exec(userArn) ?? ROOT.exec(userArn) ?? [];
  if (user !== undefined) return user;
  const [, role, federated, session] = SESSION.exec(userArn) ?? [];
  return session === undefined ? undefined : `${role ?? federated}:${session}`;
}
