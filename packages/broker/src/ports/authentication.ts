import type { PublishPacket, QoS } from '@apus/mqtt';
import type { Awaitable } from '../flow.ts';
import type { Quotas, TenantPlan } from '../quotas.ts';
import type { Rule } from '../rules.ts';
import type { Subscription } from '../session.ts';

/**
 * A client's name and rights. An authenticator makes it at CONNECT or in the handshake, and AUTH may renew it.
 * It is stored with the connection and with the session, and survives JSON.
 */
export interface Identity {
  readonly tenant: string;
  /** The authenticated name, which owns sessions; the empty string for an anonymous client. */
  readonly name: string;
  /**
   * Patterns of the client identifiers that it may use: `%u` is its name, `+` one or more characters. @default its own
   * name and `%u-+`, and any other for sessions that end with their connection; anonymous: any
   */
  readonly clientIds?: readonly string[];
  /**
   * Asked in their order; the first that applies decides, and without one the action is denied. @default anonymous:
   * everything is allowed; otherwise nothing
   */
  readonly rules?: readonly Rule[];
  /** When it expires, and every connection of it ends, in ms since the epoch. @default never */
  readonly expiresAtMs?: number;
  /** When it was issued, in ms since the epoch, if its credential says so. */
  readonly issuedAtMs?: number;
  /** The credential that has shown it: the `jti` of a token, the name of an API key. */
  readonly tokenId?: string;
  /** The key that has signed the credential: the `kid` of a token. */
  readonly keyId?: string;
  /** The authenticator that has made it, for an authorizer that asks the same service. */
  readonly source?: string;
  /** Quotas that differ from those of every identity of this broker (`quotas.ts`). */
  readonly quotas?: Partial<Quotas>;
  /** Quotas of its tenant that differ from those of every tenant of this broker. */
  readonly plan?: TenantPlan;
  /** For an anonymous client: its IP address, or its IPv6 network, which tells it from others. The broker sets it. */
  readonly address?: string;
  /** The IP address of its client, if the authorizer asks for it. The broker sets it. */
  readonly host?: string;
}

export interface Credentials {
  /** Empty if the client left the choice to the server. */
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  /** The client as the door sees it: its address, and an identity that the handshake has shown. */
  readonly peer: Peer;
}

/** A client as a door sees it before the first packet. */
export interface Peer {
  /** IP address and port, for the log. */
  readonly address: string;
  /** IP address alone, for bans; undefined where the door does not know it. */
  readonly host?: string;
  /** The identity that the handshake has shown (a token, a certificate). */
  readonly identity?: Identity;
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

/** Fields of a PUBLISH, or of a will, that rules may ask for. */
export type PublishTerms = Pick<PublishPacket, 'qos' | 'retain'>;

/** Fields of a subscription that rules may ask for. */
export interface SubscribeTerms extends Pick<Subscription, 'shareGroup'> {
  /** Undefined for a message that has waited for its subscriber: any QoS. */
  readonly qos: QoS | undefined;
}

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
}
