import type { Authenticator, Authorizer } from '@apus/broker';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DEFAULT_TENANT } from '../handlers.ts';
import { claimsAuthorizer, tokenAuthenticator } from '../tokens/claims.ts';
import { JwtVerifier, keySetCheck, secretCheck } from '../tokens/jwt-verifier.ts';
import { secretReader } from '../tokens/secret.ts';
import type { TokenVerifier } from '../tokens/token-verifier.ts';
import { defaultRulesOf, required, type Variables } from './settings.ts';
import { VARIABLES } from './variables.ts';

/** Who may connect to this deployment, and who may do what. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** For `$connect`; undefined where everybody may. */
  readonly tokens: TokenVerifier | undefined;
}

/** Everybody may do everything: the owner has asked for it in so many words. */
const ANONYMOUS: Authentication = {
  authenticator: { authenticate: () => ({ tenant: DEFAULT_TENANT, name: '' }) },
  authorizer: { mayPublish: () => true, maySubscribe: () => true },
  tokens: undefined,
};

export function authenticationOf(variables: Variables): Authentication {
  if (variables[VARIABLES.authentication] === 'anonymous') return ANONYMOUS;
  const rules = defaultRulesOf(variables);
  const tokens = new JwtVerifier({
    tenant: DEFAULT_TENANT,
    check: checkOf(variables),
    ...(rules !== undefined && { rules }),
  });
  return { authenticator: tokenAuthenticator, authorizer: claimsAuthorizer, tokens };
}

function checkOf(variables: Variables) {
  const url = variables[VARIABLES.tokenJwksUrl];
  if (url === undefined) {
    return secretCheck(
      secretReader(new SecretsManagerClient({}), required(variables, VARIABLES.tokenSecretArn)),
    );
  }
  const audience = variables[VARIABLES.tokenAudience];
  const issuer = required(variables, VARIABLES.tokenIssuer);
  return keySetCheck({ url, issuer, ...(audience !== undefined && { audience }) });
}

/** For functions that no client speaks to: who may do what is asked there too, of the identities that sessions keep. */
export function authorizationOf(variables: Variables): Authentication {
  if (variables[VARIABLES.authentication] === 'anonymous') return ANONYMOUS;
  return { authenticator: tokenAuthenticator, authorizer: claimsAuthorizer, tokens: undefined };
}
