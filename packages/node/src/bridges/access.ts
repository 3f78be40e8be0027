import {
  type Authenticator,
  type Authorizer,
  BRIDGES_SOURCE,
  type Credentials,
  type Identity,
  NO_QUOTAS,
  type PublishTerms,
  type SubscribeTerms,
} from '@apus/broker';

export function bridgeIdentity(tenant: string, clientId: string): Identity {
  return {
    tenant,
    name: clientId,
    clientIds: [clientId],
    source: BRIDGES_SOURCE,
    quotas: NO_QUOTAS.identity,
  };
}

/** Lets bridges in without a credential: only a door sets the identity of a peer. */
export function admitsBridges(authenticator: Authenticator): Authenticator {
  return {
    authenticate(credentials: Credentials) {
      const { identity } = credentials.peer;
      return identity?.source === BRIDGES_SOURCE ? identity : authenticator.authenticate(credentials);
    },
  };
}

/** A bridge may publish and subscribe to what its file says: the operator has written it. */
export class BridgesAuthorizer implements Authorizer {
  readonly allowsEverything: boolean;
  readonly asksForHost: boolean;
  readonly #authorizer: Authorizer;

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
    this.allowsEverything = authorizer.allowsEverything ?? false;
    this.asksForHost = authorizer.asksForHost ?? false;
  }

  mayPublish(identity: Identity, clientId: string, topicName: string, terms: PublishTerms) {
    if (identity.source === BRIDGES_SOURCE) return true;
    return this.#authorizer.mayPublish(identity, clientId, topicName, terms);
  }

  get mayReach(): Authorizer['mayReach'] {
    return this.#authorizer.mayReach?.bind(this.#authorizer);
  }

  maySubscribe(identity: Identity, clientId: string, topicFilter: string, terms: SubscribeTerms) {
    if (identity.source === BRIDGES_SOURCE) return true;
    return this.#authorizer.maySubscribe(identity, clientId, topicFilter, terms);
  }
}
