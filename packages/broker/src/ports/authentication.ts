import type { Awaitable } from '../flow.ts';

/** Who a client is, and what it may do. Decided once, at CONNECT; stored with the session. */
export interface Identity {
  readonly tenant: string;
  /** The authenticated name; the empty string for an anonymous client. */
  readonly name: string;
  /** What an authorizer wants to remember of the client; must survive JSON. */
  readonly claims?: unknown;
}

export interface Credentials {
  /** Empty when the client left the choice to the server. */
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  /** What the door knows of the client: its address, a token from the handshake. */
  readonly peer: Peer;
}

/** What a door knows of a client before it has said anything. */
export interface Peer {
  /** IP address and port, for the log. */
  readonly address: string;
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

/** What an identity may do. The same topic matcher decides here and in routing. */
export interface Authorizer {
  mayPublish(identity: Identity, clientId: string, topicName: string): Awaitable<boolean>;
  /** `topicFilter` is without `$share/{group}/`. May be asked again for retained messages. */
  maySubscribe(identity: Identity, clientId: string, topicFilter: string): Awaitable<boolean>;
}
