import { reasonOf } from '@apus/broker';
import { ConfigurationError } from '../configuration-error.ts';
import { JwtAuthenticator } from '../jwt/jwt-authenticator.ts';
import { remoteKeySet } from '../jwt/key-set.ts';
import type { Fields } from './fields.ts';
import { identityDefaults, readTokenOptions, TOKEN_FIELDS, type TokenOptions } from './jwt.ts';
import { checkKeySetUrl } from './key-set-url.ts';
import type { AuthenticatorKind } from './kind.ts';

export interface CognitoConfiguration extends TokenOptions {
  /** `https://cognito-idp.{region}.amazonaws.com/{userPoolId}` */
  readonly issuer: string;
  /** App clients whose tokens are accepted. */
  readonly clientIds: readonly string[];
  readonly tokenUse: 'access' | 'id' | 'either';
}

const TOKEN_USES = ['access', 'id', 'either'] as const;

/** Users of an Amazon Cognito user pool. */
export const cognitoKind: AuthenticatorKind<CognitoConfiguration> = {
  name: 'cognito',
  takesTokens: true,
  takesPasswords: false,
  fields: ['region', 'userPoolId', 'clientIds', 'tokenUse', 'endpoint', ...TOKEN_FIELDS],
  parse(fields) {
    const clientIds = fields.texts('clientIds');
    if (clientIds === undefined) {
      return fields.fail('clientIds', 'is missing: every app client of the pool could connect.');
    }
    return {
      issuer: issuerOf(fields),
      clientIds,
      tokenUse: fields.oneOf('tokenUse', TOKEN_USES) ?? 'access',
      ...readTokenOptions(fields),
    };
  },
  create({ issuer, clientIds, tokenUse, ...options }, { clock, log, fetch }, { source }) {
    const failed = (error: Error) => log.warn('keys-unavailable', { source, reason: reasonOf(error) });
    return new JwtAuthenticator({
      source,
      keys: remoteKeySet({ url: `${issuer}/.well-known/jwks.json`, clock, fetch, failed }),
      issuer,
      check: (claims) => problemOf(claims, clientIds, tokenUse),
      clock,
      ...identityDefaults(options),
    });
  },
};

/** `endpoint` replaces AWS if a program on this machine stands in for Cognito. */
function issuerOf(fields: Fields): string {
  const region = fields.requiredText('region', 'the Region of the user pool, as "eu-west-1".');
  const userPoolId = fields.requiredText('userPoolId', 'the id of the user pool, as "eu-west-1_AbCdEfGhI".');
  if (!userPoolId.startsWith(`${region}_`) || !/^[\w-]+$/.test(userPoolId)) {
    throw new ConfigurationError(
      `${fields.where}.userPoolId begins with its Region, as "${region}_AbCdEfGhI"; it is not "${userPoolId}".`,
    );
  }
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const endpoint = fields.text('endpoint') ?? `https://cognito-idp.${region}.${domain}`;
  return `${checkKeySetUrl(fields, 'endpoint', endpoint)}/${userPoolId}`;
}

/** An access token names its app client in `client_id`, an id token in `aud` [SEC-TOKEN-4]. */
function problemOf(
  { token_use: use, client_id: clientId, aud }: Readonly<Record<string, unknown>>,
  clientIds: readonly string[],
  tokenUse: CognitoConfiguration['tokenUse'],
): string | undefined {
  if (use !== 'access' && use !== 'id') return 'its "token_use" is neither "access" nor "id".';
  if (tokenUse !== 'either' && use !== tokenUse) return `its "token_use" is not "${tokenUse}".`;
  const client = use === 'access' ? clientId : aud;
  if (typeof client === 'string' && clientIds.includes(client)) return undefined;
  return `its "${use === 'access' ? 'client_id' : 'aud'}" is none of the app clients that may connect.`;
}
