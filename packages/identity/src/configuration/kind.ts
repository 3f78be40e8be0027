import type { Clock, Log } from '@apus/broker';
import type { ChainAuthenticator } from '../answer.ts';
import type { Fetch } from '../fetch-text.ts';
import type { GuessLimiter } from '../guess-limiter.ts';
import type { HookSender, HookTimers } from '../hook/hook-client.ts';
import type { ReadUser } from '../stored-users.ts';
import type { KnownTenants } from '../tenants/known-tenants.ts';
import type { UserLookup } from '../users-file.ts';
import type { Fields } from './fields.ts';

/** Services that hooks need of the process that asks them. A hook that needs an absent one says so. */
export interface HookContext {
  readonly clock: Clock;
  readonly log: Log;
  /** @default the one of the platform */
  readonly fetch?: Fetch | undefined;
  /** Sends a hook's requests to a Lambda function. Absent outside of AWS. */
  readonly functionSender?: ((functionArn: string, answerBytesMax: number) => HookSender) | undefined;
  /** The most that a hook may be given for its answer, in ms. @default what the configuration says */
  readonly hookTimeoutMsMax?: number | undefined;
  /** Time that is left for an answer, in ms, where the process has a deadline. @default any time */
  readonly remainingMs?: (() => number) | undefined;
  /** For the timeouts of hooks. @default the machine's */
  readonly timers?: HookTimers | undefined;
}

/** Services of the process that asks the chain. */
export interface ChainContext extends HookContext {
  /** Shared by all authenticators whose credentials can be guessed. */
  readonly limiter: GuessLimiter;
  /** Reads a file. Absent in the cloud. */
  readonly readFile?: ((path: string) => string) | undefined;
  /**
   * Looks up users in a file, which may be read again when it changes; the owner is passed along. Absent in the cloud.
   */
  readonly usersFile?: ((path: string, owner: UsersOwner) => UserLookup) | undefined;
  /** Reads a user of the deployment's table. Absent outside of it. */
  readonly readUser?: ReadUser | undefined;
  /** The register of tenants. Absent where the door has none. */
  readonly tenants?: KnownTenants | undefined;
  /** Reads a secret of AWS Secrets Manager. */
  readonly readSecret?: ((arn: string) => Promise<string>) | undefined;
}

/** The owner of the identities of a file's users. */
export interface UsersOwner {
  readonly source: string;
  readonly tenant: string;
}

/** Where in the chain an authenticator stands. */
export interface Position {
  /** Stands in `Identity.source`. */
  readonly source: string;
  /** No later authenticator looks at names and passwords. */
  readonly isLastForPasswords: boolean;
}

/** A kind of authenticator: how it is configured, and how it is made. */
export interface AuthenticatorKind<C = unknown> {
  /** The field that names it: `{"jwt": {…}}`. */
  readonly name: string;
  /** It looks at tokens of the handshake. */
  readonly takesTokens: boolean;
  /** It looks at user names and passwords. */
  readonly takesPasswords: boolean;
  readonly fields: readonly string[];
  /** @throws {ConfigurationError} in a sentence for the operator */
  parse(fields: Fields): C;
  /** @throws {ConfigurationError} when something that the configuration names is not there */
  create(configuration: C, context: ChainContext, position: Position): ChainAuthenticator;
}
