import type { Authenticator, Authorizer } from '@apus/broker';

/** The only tenant of a node. */
export const TENANT = 'default';

/** Accepts every client. A user name that was not checked is no identity. */
export const anonymousAuthenticator: Authenticator = {
  authenticate: () => ({ tenant: TENANT, name: '' }),
};

export const everythingAllowed: Authorizer = {
  allowsEverything: true,
  mayPublish: () => true,
  maySubscribe: () => true,
};
