import type { Authenticator, Authorizer } from '@apus/broker';

/** The only tenant of a node. */
export const TENANT = 'default';

/** Takes everybody. A user name that nobody checked is no identity, so there is none. */
export const anonymousAuthenticator: Authenticator = {
  authenticate: () => ({ tenant: TENANT, name: '' }),
};

export const everythingAllowed: Authorizer = {
  allowsEverything: true,
  mayPublish: () => true,
  maySubscribe: () => true,
};
