import type { Authenticator, Authorizer, Credentials, Identity, Refusal, Rules } from '@apus/broker';
import { isCovered } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { isTenant } from '../tenant.ts';
import type { TokenRefusal } from './token-verifier.ts';

/** Filters in one token: it travels in a URL, and is stored with the connection. */
const FILTERS_MAX = 100;

const NOTHING: Rules = { publish: [], subscribe: [] };

/** What Apus reads of a token, beside `exp`: all of it is signed. */
export interface TokenClaims {
  /** Name of the identity: `%u` in filters. */
  readonly sub?: string;
  readonly tenant?: string;
  /** Topic filters; absent: the deployment's default, which is nothing unless it says otherwise. */
  readonly publish?: readonly string[];
  readonly subscribe?: readonly string[];
}

export interface IdentityDefaults {
  readonly tenant: string;
  readonly rules?: Rules;
}

/** The identity that a verified token stands for. */
export function identityOf(
  claims: Readonly<Record<string, unknown>>,
  { tenant, rules = NOTHING }: IdentityDefaults,
): Identity | TokenRefusal {
  const publish = filtersOf(claims.publish, rules.publish);
  const subscribe = filtersOf(claims.subscribe, rules.subscribe);
  if (publish === undefined || subscribe === undefined) {
    const reason = `"publish" and "subscribe" must be lists of at most ${FILTERS_MAX} topic filters.`;
    return { refused: 'invalid', reason };
  }
  if (typeof claims.sub !== 'string' || claims.sub === '') {
    return { refused: 'invalid', reason: 'The token has to name its subject ("sub").' };
  }
  if (claims.tenant !== undefined && !isTenant(claims.tenant)) {
    return {
      refused: 'invalid',
      reason: '"tenant" must be a name of up to 64 letters, digits, ".", "_" and "-".',
    };
  }
  return { tenant: claims.tenant ?? tenant, name: claims.sub, claims: { publish, subscribe } };
}

function filtersOf(claim: unknown, fallback: readonly string[]): readonly string[] | undefined {
  if (claim === undefined) return fallback;
  if (!Array.isArray(claim) || claim.length > FILTERS_MAX) return undefined;
  return claim.every((each) => typeof each === 'string') ? claim : undefined;
}

/** Takes a client for whom the token of its handshake says it is. */
export const tokenAuthenticator: Authenticator = {
  authenticate({ peer }: Credentials): Identity | Refusal {
    return peer.identity ?? { refused: ReasonCode.NotAuthorized, reason: 'the handshake had no token' };
  },
};

/** Lets identities publish and subscribe where the filters in their tokens say. */
export const claimsAuthorizer: Authorizer = {
  mayPublish: (identity, clientId, topicName) =>
    isCovered(rulesOf(identity).publish, identity, clientId, topicName),
  maySubscribe: (identity, clientId, topicFilter) =>
    isCovered(rulesOf(identity).subscribe, identity, clientId, topicFilter),
};

function rulesOf({ claims }: Identity): Rules {
  if (typeof claims !== 'object' || claims === null) return NOTHING;
  const { publish = [], subscribe = [] } = claims as Partial<Rules>;
  return { publish, subscribe };
}
