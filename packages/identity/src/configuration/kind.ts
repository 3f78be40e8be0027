import type { Clock, Log } from '@apus/broker';
import type { ChainAuthenticator } from '../answer.ts';
import type { Fetch } from '../fetch-text.ts';
import type { GuessLimiter } from '../guess-limiter.ts';
import type { HookSender } from '../hook/hook-client.ts';
import type { HookTimers } from '../hook/system-timers.ts';
import type { ReadUser } from '../stored-users.ts';
import type { KnownTenants } from '../tenants/known-tenants.ts';
import type { UserLookup } from '../users-file.ts';
import type { Fields } from './fields.ts';

/** Services that hooks need from their process. A hook reports a service that is missing. */
export interface HookContext {
  readonly clock: Clock;
  readonly log: Log;
  /** @default the platform's fetch */
  readonly fetch?: Fetch | undefined;
  /** Sends a hook's requests to a Lambda function. Absent outside of AWS. */
  readonly functionSender?: ((functionArn: string, answerBytesMax: number) => HookSender) | undefined;
  /**
   * The longest time that a hook may have for its answer, in ms.
   * @default the configured time
   */
  readonly hookTimeoutMsMax?: number | undefined;
  /**
   * The time left for an answer, in ms, if the process has a deadline.
   * @default any time
   */
  readonly remainingMs?: (() => number) | undefined;
  /**
   * For the timeouts of hooks.
   * @default the machine's timers
   */
  readonly timers?: HookTimers | undefined;
}

/** Services of the process with the chain. */
export interface ChainContext extends HookContext {
  /** Shared by all authenticators whose credentials can be guessed. */
  readonly limiter: GuessLimiter;
  /** Reads a file. Absent in the cloud. */
  readonly readFile?: ((path: string) => string) | undefined;
  /**
   * Looks up users in a file, which may be read again when it changes; the owner is passed along. Absent in the cloud.
   */
  readonly usersFile?: ((path: string, owner: UsersOwner) => UserLookup) | undefined;
  /** Looks up users that the process keeps in a table of its own. Absent where it has none. */
  readonly usersTable?: ((owner: UsersOwner) => UserLookup) | undefined;
  /** Reads a user of the deployment's table. Absent outside of it. */
  readonly readUser?: ReadUser | undefined;
  /** The register of tenants. Absent if the door has none. */
  readonly tenants?: KnownTenants | undefined;
  /** Reads a secret of AWS Secrets Manager. */
  readonly readSecret?: ((arn: string) => Promise<string>) | undefined;
}

/** The owner of the identities of users. */
export interface UsersOwner {
  readonly source: string;
  readonly tenant: string;
}

/** The place of an authenticator in the chain. */
export interface Position {
  /** The value of `Identity.source`. */
  readonly source: string;
  /** No later authenticator handles names and passwords. */
  readonly isLastForPasswords: boolean;
}

/** A kind of authenticator: its configuration, and its constructor. */
export interface AuthenticatorKind<C = unknown> {
  /** The field that names it: `{"jwt": {…}}`. */
  readonly name: string;
  /** Whether it uses tokens of the handshake. */
  readonly takesTokens: boolean;
  /** Whether it uses user names and passwords. */
  readonly takesPasswords: boolean;
  readonly fields: readonly string[];
  /** @throws {ConfigurationError} in a sentence for the operator */
  parse(fields: Fields): C;
  /** @throws {ConfigurationError} if something that the configuration names does not exist */
  create(configuration: C, context: ChainContext, position: Position): ChainAuthenticator;
}
