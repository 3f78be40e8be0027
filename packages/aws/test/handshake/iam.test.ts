import { describe, expect, test } from 'vitest';
import type { RequestContext } from '../../src/events/gateway.ts';
import { identityOfCaller } from '../../src/identity/caller-identity.ts';
import { SignedHandshakes } from '../../src/identity/signed-handshakes.ts';

const OPTIONS = { tenant: 'default', rules: [], clientIds: undefined, quotas: undefined };
const nameOf = (userArn: string, cognitoIdentityId?: string | null) =>
  identityOfCaller({ userArn, cognitoIdentityId }, OPTIONS)?.name;

describe('the signer of a handshake', () => {
  test.each([
    ['a user', 'arn:aws:iam::123456789012:user/ada', 'ada'],
    ['a user with a path', 'arn:aws:iam::123456789012:user/team/a/ada', 'ada'],
    ['a session of a role', 'arn:aws:sts::123456789012:assumed-role/Clients/ada', 'Clients:ada'],
    ['a session in China', 'arn:aws-cn:sts::123456789012:assumed-role/Clients/ada', 'Clients:ada'],
    ['a federated user', 'arn:aws:sts::123456789012:federated-user/ada', 'federated-user:ada'],
    ['the root of the account', 'arn:aws:iam::123456789012:root', 'root'],
  ])('has, as %s, the name in its ARN', (_, arn, name) => {
    expect(nameOf(arn)).toBe(name);
  });

  test('cannot, by the name of a session, be taken for a user or for a session of another role [SEC-IAM-1]', () => {
    const user = nameOf('arn:aws:iam::123456789012:user/ada');
    const reader = nameOf('arn:aws:sts::123456789012:assumed-role/Reader/ada');
    const writer = nameOf('arn:aws:sts::123456789012:assumed-role/Writer/ada');
    expect(new Set([user, reader, writer]).size).toBe(3);
  });

  test('has the identity of its identity pool as its name', () => {
    const arn = 'arn:aws:sts::123456789012:assumed-role/Pool/CognitoIdentityCredentials';
    expect(nameOf(arn, 'eu-west-1:1234-5678')).toBe('eu-west-1:1234-5678');
    expect(nameOf(arn, null)).toBe('Pool:CognitoIdentityCredentials');
  });

  test.each([
    '',
    'arn:aws:sts::123456789012:assumed-role/Clients',
    'arn:aws:iam::123456789012:role/Clients',
    'ada',
  ])('has no identity with the ARN %j', (arn) => {
    expect(nameOf(arn)).toBeUndefined();
  });

  test('has no identity where API Gateway tells of no caller', () => {
    expect(identityOfCaller(undefined, OPTIONS)).toBeUndefined();
    expect(identityOfCaller({ sourceIp: '192.0.2.1' }, OPTIONS)).toBeUndefined();
  });

  test('is refused where API Gateway tells of no caller, and a token of the handshake changes nothing [SEC-IAM-2]', () => {
    const handshakes = new SignedHandshakes(OPTIONS);
    const context = { identity: { sourceIp: '192.0.2.1' } } as RequestContext;
    expect(handshakes.identify({ query: { token: 'a.b.c' } }, context)).toMatchObject({ status: 403 });
    const signed = { identity: { userArn: 'arn:aws:iam::123456789012:user/ada' } } as RequestContext;
    expect(handshakes.identify({}, signed)).toMatchObject({ identity: { name: 'ada' } });
  });

  test('may do what the deployment says', () => {
    const rules = [{ effect: 'allow', action: 'all', topicFilters: ['%u/#'] }] as const;
    const quotas = { connectionsMax: 1 };
    const caller = { userArn: 'arn:aws:iam::123456789012:user/ada' };
    expect(identityOfCaller(caller, { tenant: 'acme', rules, clientIds: ['%u'], quotas })).toEqual({
      tenant: 'acme',
      name: 'ada',
      rules,
      clientIds: ['%u'],
      quotas,
      source: 'iam',
    });
  });
});
