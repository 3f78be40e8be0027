import type { AuthenticationMethod, Authenticator, Identity, Peer, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';

/** A client as the Worker in front has let it in. */
export interface HubPeer extends Peer {
  /** The tenant of the hub. Absent: the hub takes clients of every tenant. */
  readonly tenant?: string;
}

/** Lets in the clients of the hub's own tenant alone: another tenant has another object [SEC-TENANT-10]. */
export function ownTenant(authenticator: Authenticator): Authenticator {
  return {
    authenticate(credentials) {
      const check = (answer: Identity | Refusal) =>
        'refused' in answer ? answer : (refusalOf(credentials.peer, answer) ?? answer);
      const answer = authenticator.authenticate(credentials);
      return answer instanceof Promise ? answer.then(check) : check(answer);
    },
  };
}

/** The same for a method that checks a token in one step. */
export function ownTenantOnly(method: AuthenticationMethod): AuthenticationMethod {
  return {
    name: method.name,
    async begin(data, credentials) {
      const step = await method.begin(data, credentials);
      const refusal = step.outcome === 'success' ? refusalOf(credentials.peer, step.identity) : undefined;
      return refusal === undefined ? step : { outcome: 'failure', ...refusal };
    },
    continue: (data, state) => method.continue(data, state),
  };
}

/** The sentence names no tenant: the client may be a stranger to this one. */
function refusalOf({ tenant }: HubPeer, identity: Identity): Refusal | undefined {
  if (tenant === undefined || tenant === identity.tenant) return undefined;
  const reason = 'This identity belongs to another tenant than this URL: see the path /TENANT/mqtt';
  return { refused: ReasonCode.NotAuthorized, reason };
}
