import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';

/**
 * - `'generated-secret'`: tokens are signed (HS256) with a secret that Secrets Manager generates, $0.40 a month.
 *   `apus token` makes them.
 * - `{ secret }`: the same with a secret of yours, at least 32 bytes, as a plain string.
 * - `{ jwksUrl, issuer, audience }`: an identity provider's tokens.
 * - `{ iam }`: API Gateway itself asks for handshakes that are signed with credentials of AWS.
 * - `'anonymous'`: every client may connect, publish and subscribe. Synthesis warns.
 */
export type Authentication =
  | 'generated-secret'
  | 'anonymous'
  | SecretAuthentication
  | KeySetAuthentication
  | IamAuthentication;

export interface SecretAuthentication {
  readonly secret: ISecret;
}

export interface KeySetAuthentication {
  /** Where the provider publishes its keys; `https://`. */
  readonly jwksUrl: string;
  /** The issuer (`iss`) that a token has to name. */
  readonly issuer: string;
  /** The audience (`aud`) that a token has to name: the same keys sign the tokens of all the provider's customers. */
  readonly audience: string;
}

/** Clients sign their handshakes (Signature Version 4); `grantConnect` allows a grantee to connect. */
export interface IamAuthentication {
  readonly iam: IamProps;
}

/**
 * The rules of these clients. `%u` in a filter stands for the name of an IAM user, `ROLE:SESSION` of a role, or the
 * identity of an identity pool of Amazon Cognito.
 */
export interface IamProps extends TokenRulesProps {
  /**
   * Rules with conditions (docs/rules.md). They are evaluated before the lists.
   * @default none
   */
  readonly rules?: readonly unknown[];
  /**
   * Patterns of client identifiers, such as `%u-+`.
   * @default their own name, and any for sessions that end with the connection
   */
  readonly clientIds?: readonly string[];
  /** @default 'default' */
  readonly tenant?: string;
}

/** The configuration of docs/identity.md: a list of authenticators, asked in order; or `iam` instead of them. */
export interface IdentityProps {
  readonly authenticators?: readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[];
  /** Name of the cookie that may hold a token; needs `allowedOrigins`. @default none */
  readonly cookie?: string;
  /**
   * CONNECT may have a user name and a password, or a token as password. A handshake without a token is then accepted,
   * and costs something before its client is known. If no CONNECT shows a password within ten seconds, the connection
   * is closed.
   * @default false
   */
  readonly mqttPassword?: boolean;
  /**
   * The hook that decides if an identity's own rules do not: `{ hook: { url } }`.
   * @default none: access is denied
   */
  readonly authorization?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /**
   * API Gateway checks signatures.
   * @default the authenticators check clients
   */
  readonly iam?: IamProps;
}

export interface TokenRulesProps {
  /** Topic filters. @default none */
  readonly publish?: readonly string[];
  /** Topic filters. @default none */
  readonly subscribe?: readonly string[];
}
