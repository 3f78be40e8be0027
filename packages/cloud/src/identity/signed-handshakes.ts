import type { HandshakeRefused, HandshakeTaken, IamConfiguration } from '@apus/identity';
import type { RequestContext } from '../events/gateway.ts';
import { identityOfCaller } from './caller-identity.ts';

/** A route that asks for no signature was changed by hand, or is about to be deployed [SEC-IAM-2]. */
const UNSIGNED: HandshakeRefused = {
  status: 403,
  reason:
    'This endpoint takes handshakes whose signature API Gateway has checked (authorizationType AWS_IAM).',
};

/** Accepts the handshakes that API Gateway has verified. The user is the signer. */
export class SignedHandshakes {
  readonly #configuration: IamConfiguration;

  constructor(configuration: IamConfiguration) {
    this.#configuration = configuration;
  }

  identify(_request: unknown, { identity: caller }: RequestContext): HandshakeTaken | HandshakeRefused {
    const identity = identityOfCaller(caller, this.#configuration);
    return identity === undefined ? UNSIGNED : { identity };
  }
}
