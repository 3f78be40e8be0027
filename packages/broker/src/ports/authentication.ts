import type { PublishPacket, QoS } from '@apus/mqtt';
import type { Awaitable } from '../model/flow.ts';
import type { Identity, Peer } from '../model/identity.ts';
import type { Delivery, Subscription } from '../model/session.ts';

export interface Credentials {
  /** Empty if the client left the choice to the server. */
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  /** The client as the door sees it: its address, and an identity that the handshake has shown. */
  readonly peer: Peer;
}

export interface Refusal {
  /** 0x86 Bad User Name or Password, 0x87 Not authorized, 0x8A Banned, 0x97, 0x9F, … */
  readonly refused: number;
  readonly reason: string;
}

/** CONNECT with user name and password, or with nothing. */
export interface Authenticator {
  authenticate(credentials: Credentials): Awaitable<Identity | Refusal>;
}

/** One step of an exchange of AUTH packets. The next step gets `state` back, so `state` must survive JSON. */
export type AuthenticationStep =
  | { readonly outcome: 'continue'; readonly data: Uint8Array | undefined; readonly state: unknown }
  | { readonly outcome: 'success'; readonly data: Uint8Array | undefined; readonly identity: Identity }
  | ({ readonly outcome: 'failure' } & Refusal);

/** An enhanced authentication method (section 4.12), known by its Authentication Method. */
export interface AuthenticationMethod {
  readonly name: string;
  /** `data`: the Authentication Data of CONNECT, or of the AUTH that begins to re-authenticate. */
  begin(data: Uint8Array | undefined, credentials: Credentials): Awaitable<AuthenticationStep>;
  continue(data: Uint8Array | undefined, state: unknown): Awaitable<AuthenticationStep>;
}

/** Fields of a PUBLISH, or of a will, that rules may ask for, and the payload that waits for their answer. */
export type PublishTerms = Pick<PublishPacket, 'qos' | 'retain'> & Partial<Pick<PublishPacket, 'payload'>>;

/** Fields of a subscription that rules may ask for. */
export interface SubscribeTerms extends Pick<Subscription, 'shareGroup'> {
  /** Undefined for a message that has waited for its subscriber: any QoS. */
  readonly qos: QoS | undefined;
}

type MayReach = (
  identity: Identity,
  clientId: string,
  topicFilter: string,
  action: 'publish' | 'subscribe',
) => boolean;

/** Decides what an identity may do, with the same topic matcher as routing. */
export interface Authorizer {
  /** True: it allows everything, and subscriptions need not be checked again. */
  readonly allowsEverything?: boolean;
  /** True: it uses `Identity.host`, which is stored for it. */
  readonly asksForHost?: boolean;
  mayPublish(
    identity: Identity,
    clientId: string,
    topicName: string,
    terms: PublishTerms,
  ): Awaitable<boolean>;
  /**
   * `topicFilter` is without `$share/{group}/`. The broker asks at SUBSCRIBE, for each subscription of a resumed
   * session, and, with a topic name and no QoS, for each message that leaves a queue.
   */
  maySubscribe(
    identity: Identity,
    clientId: string,
    topicFilter: string,
    terms: SubscribeTerms,
  ): Awaitable<boolean>;
  /**
   * Whether some topic of the filter is allowed. It grants nothing: a document shows a topic to those for whom it is.
   * @default only a filter all of which the client may subscribe to
   */
  readonly mayReach?: MayReach | undefined;
}

/** Rules that have changed, while the subscriptions of the sessions that they concern are looked at. */
export interface ChangedRights {
  /** Whether the new rules keep a message from the session. Undefined: no such look is under way. */
  readonly forbids: ((delivery: Delivery, topic: string) => boolean) | undefined;
}
