import type { Awaitable, Identity } from '@apus/broker';
import type { HandshakeRefused, HandshakeTaken, IamConfiguration, KnownTenants } from '@apus/identity';
import type { RequestContext } from '../events/gateway.ts';
import { identityOfCaller } from './caller-identity.ts';

/** The route does not ask for a signature: it was changed by hand, or is about to be deployed [SEC-IAM-2]. */
const UNSIGNED: HandshakeRefused = {
  status: 403,
  reason:
    'This endpoint takes handshakes whose signature API Gateway has checked (authorizationType AWS_IAM).',
};

/** Accepts handshakes whose signature API Gateway has checked. The user is the signer. */
export class SignedHandshakes {
  readonly #configuration: IamConfiguration;

  readonly #tenants: Pick<KnownTenants, 'planned'> | undefined;

  /** @param tenants adds the plan of the tenant to an identity. @default there are no plans */
  constructor(configuration: IamConfiguration, tenants?: Pick<KnownTenants, 'planned'>) {
    this.#configuration = configuration;
    this.#tenants = tenants;
  }

  identify(
    _request: unknown,
    { identity: caller }: RequestContext,
  ): Awaitable<HandshakeTaken | HandshakeRefused> {
    const identity = identityOfCaller(caller, this.#configuration);
    if (identity === undefined) return UNSIGNED;
    return this.#tenants === undefined ? { identity } : this.#planned(identity, this.#tenants);
  }

  async #planned(
    identity: Identity,
    tenants: Pick<KnownTenants, 'planned'>,
  ): Promise<HandshakeTaken | HandshakeRefused> {
    const planned = await tenants.planned(identity);
    return 'refused' in planned ? { status: 503, reason: planned.reason } : { identity: planned };
  }
}
