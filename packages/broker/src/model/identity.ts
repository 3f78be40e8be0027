import type { Quotas, TenantPlan } from './quotas.ts';
import type { Rule } from './rules.ts';

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

/** A client as a door sees it before the first packet. */
export interface Peer {
  /** IP address and port, for the log. */
  readonly address: string;
  /** IP address alone, for bans; undefined where the door does not know it. */
  readonly host?: string;
  /** The identity that the handshake has shown: a token. */
  readonly identity?: Identity;
  /** The client's certificate, which the door has verified. */
  readonly certificate?: PeerCertificate;
}

/** The holder of a certificate, as the certificate names it. */
export interface PeerCertificate {
  /** As `C=CH, O=Meters, CN=meter-7`. */
  readonly subject: string;
  readonly commonName: string | undefined;
  /** As `DNS:meter-7.example`, `email:ada@example.org`, `URI:spiffe://example/ada`. */
  readonly alternativeNames: readonly string[];
  /** In hex. */
  readonly serialNumber: string;
  readonly validToMs: number;
}

/** The client that has sent a message, and is charged for it: see `quotaHolderOf`. */
export interface Publisher {
  readonly identity: Identity;
  readonly clientId: string;
  /** Its rules are asked again when the message is due. @default false */
  readonly asksRules?: boolean;
}

/** What of an identity a ban may name. */
export type Bannable = Pick<Identity, 'tenant' | 'name' | 'tokenId' | 'issuedAtMs'>;
