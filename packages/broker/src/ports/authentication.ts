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
   * Patterns of the client identifiers that it may use: `%u` is its name, `+` stands for one or more characters.
   * @default its own name and `%u-+`, and any other for sessions that end with their connection; anonymous: any
   */
  readonly clientIds?: readonly string[];
  /** The first that applies decides, and none denies. @default everything for an anonymous client, nothing for a name */
  readonly rules?: readonly Rule[];
  /** When it ends, in ms since the epoch, and every connection with it. @default never */
  readonly expiresAtMs?: number;
  /** When it was issued, in ms since the epoch, where its credential says so. */
  readonly issuedAtMs?: number;
  /** Which credential showed it: the `jti` of a token, the name of an API key. */
  readonly tokenId?: string;
  /** Which key signed the credential: the `kid` of a token. */
  readonly keyId?: string;
  /** Which authenticator made it, for an authorizer that asks there. */
  readonly source?: string;
  /** Where they differ from what every identity of this broker has (`quotas.ts`). */
  readonly quotas?: Partial<Quotas>;
  /** Quotas of its tenant where they differ from what every tenant of this broker has. */
  readonly plan?: TenantPlan;
  /** Of an anonymous client: its IP address, or its network of IPv6, which tells it from others. The broker sets it. */
  readonly address?: string;
  /** IP address from which its client connected, where the authorizer asks for that. The broker sets it. */
  readonly host?: string;
}

export interface Credentials {
  /** Empty when the client left the choice to the server. */
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  /** The client as the door knows it: its address, a token from the handshake. */
  readonly peer: Peer;
}

/** The client as a door knows it before the first packet. */
export interface Peer {
  /** IP address and port, for the log. */
  readonly address: string;
  /** IP address alone, for bans; undefined where the door does not know it. */
  readonly host?: string;
  /** An identity that the door has verified in the handshake (a token, a certificate). */
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

/** One step of an exchange of AUTH packets. `state` comes back at the next step and must survive JSON. */
export type AuthenticationStep =
  | { readonly outcome: 'continue'; readonly data: Uint8Array | undefined; readonly state: unknown }
  | { readonly outcome: 'success'; readonly data: Uint8Array | undefined; readonly identity: Identity }
  | ({ readonly outcome: 'failure' } & Refusal);

/** An enhanced authentication method (section 4.12), known by its Authentication Method. */
export interface AuthenticationMethod {
  readonly name: string;
  /** `data` is the Authentication Data of CONNECT, or of the AUTH that asks to re-authenticate. */
  begin(data: Uint8Array | undefined, credentials: Credentials): Awaitable<AuthenticationStep>;
  continue(data: Uint8Array | undefined, state: unknown): Awaitable<AuthenticationStep>;
}

/** Fields of a PUBLISH, or of a will, that rules may ask for. */
export type PublishTerms = Pick<PublishPacket, 'qos' | 'retain'>;

/** Fields of a subscription that rules may ask for. */
export interface SubscribeTerms extends Pick<Subscription, 'shareGroup'> {
  /** Undefined for a message that a subscription has brought: at whichever QoS. */
  readonly qos: QoS | undefined;
}

/** Decides what an identity may do, with the same topic matcher as routing. */
export interface Authorizer {
  /** Set where it forbids nothing: then subscriptions need not be looked at again. */
  readonly allowsEverything?: boolean;
  /** Set where it looks at `Identity.host`, which is not stored otherwise. */
  readonly asksForHost?: boolean;
  mayPublish(
    identity: Identity,
    clientId: string,
    topicName: string,
    terms: PublishTerms,
  ): Awaitable<boolean>;
  /**
   * `topicFilter` is without `$share/{group}/`. Asked for SUBSCRIBE, for each subscription of a session that is resumed,
   * and with a topic name and no QoS for each message that leaves a queue.
   */
  maySubscribe(
    identity: Identity,
    clientId: string,
    topicFilter: string,
    terms: SubscribeTerms,
  ): Awaitable<boolean>;
}
