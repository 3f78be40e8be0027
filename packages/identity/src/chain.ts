import {
  type Authenticator,
  type Awaitable,
  type Credentials,
  type Identity,
  type Refusal,
  type Rule,
  RulesAuthorizer,
} from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import type { ChainAuthenticator, Shown } from './answer.ts';
import type { GuessLimiter } from './guess-limiter.ts';
import type { KnownTenants } from './tenants/known-tenants.ts';

/** Characters of all reasons together why no authenticator took a credential. */
const REASONS_LENGTH_MAX = 300;

/**
 * The authenticators, asked in order: each answers with an identity or a refusal, or leaves the client to the next one.
 * Both doors ask the same chain [SEC-TOKEN-5].
 */
export class Chain implements Authenticator {
  /** Applies the rules of identities, which some authenticators keep and may change. */
  readonly authorizer = new RulesAuthorizer((identity) => this.#rulesOf(identity));
  readonly #authenticators: readonly ChainAuthenticator[];
  readonly #limiter: GuessLimiter;
  readonly #tenants: Pick<KnownTenants, 'planned'> | undefined;

  /**
   * @param limiter shared with the authenticators, each of which counts the wrong ones that it refuses itself
   * @param tenants gives identities the plans of their tenants. @default there are no plans
   */
  constructor(
    authenticators: readonly ChainAuthenticator[],
    limiter: GuessLimiter,
    tenants?: Pick<KnownTenants, 'planned'>,
  ) {
    this.#authenticators = authenticators;
    this.#limiter = limiter;
    this.#tenants = tenants;
  }

  /** Authenticates CONNECT. An identity that the handshake has verified stands, and CONNECT does not change it. */
  authenticate({ peer, clientId, username, password }: Credentials): Awaitable<Identity | Refusal> {
    const { address, certificate, identity } = peer;
    return identity ?? this.ask({ clientId, username, password, address, certificate });
  }

  /** Authenticates a token, from a handshake or from AUTH. */
  verify(token: string, address: string): Promise<Identity | Refusal> {
    return this.ask({ token, address });
  }

  /** Authenticators whose keys or users cannot be read, by their names. */
  async probe(): Promise<ReadonlyMap<string, Error | undefined>> {
    const found = new Map<string, Error | undefined>();
    for (const each of this.#authenticators) {
      found.set(
        each.source,
        await each.probe?.().then(
          () => undefined,
          (error: Error) => error,
        ),
      );
    }
    return found;
  }

  async ask(shown: Shown): Promise<Identity | Refusal> {
    const { username, password, address } = shown;
    if (password === undefined) return await this.#askEach(shown);
    return await this.#limiter.run(
      username,
      address,
      async () => this.#limiter.refusal(username, address) ?? (await this.#askEach(shown)),
    );
  }

  async #askEach(shown: Shown): Promise<Identity | Refusal> {
    const { token, username, password, certificate, address } = shown;
    const hasShown = (token ?? password ?? certificate) !== undefined;
    const reasons = new Set<string>();
    let isUndecided = false;
    for (const authenticator of this.#authenticators) {
      if (!hasShown && authenticator.isAskedAlways !== true) continue;
      const answer = await authenticator.authenticate(shown);
      if ('refused' in answer) return answer;
      if (!('notMine' in answer)) return NO_TEXT.test(answer.name) ? NOT_A_NAME : this.#taken(shown, answer);
      reasons.add(answer.notMine);
      isUndecided ||= answer.isUndecided === true;
    }
    // [SEC-GUESS-7]: a password that no authenticator takes is a wrong one, whatever each of them has answered.
    if (token === undefined && reasons.size > 0 && !isUndecided) this.#limiter.wrong(username, address);
    if (!hasShown) return NOTHING_SHOWN;
    return notTaken(shown, [...reasons].join('; ').slice(0, REASONS_LENGTH_MAX));
  }

  #taken({ token, username, address }: Shown, identity: Identity): Awaitable<Identity | Refusal> {
    if (token === undefined && username !== undefined) this.#limiter.right(username, address);
    return this.#tenants === undefined ? identity : this.#tenants.planned(identity);
  }

  #rulesOf(identity: Identity): readonly Rule[] | undefined {
    if (identity.rules !== undefined) return identity.rules;
    return this.#authenticators.find(({ source }) => source === identity.source)?.rulesOf?.(identity);
  }
}

/** What no string of MQTT holds [MQTT-1.5.4-1] [MQTT-1.5.4-2] [SEC-TOKEN-10]: names stand in topics and in packets. */
const NO_TEXT = /\0|\p{Surrogate}/u;

const NOT_A_NAME: Refusal = {
  refused: ReasonCode.NotAuthorized,
  reason: 'The name of this identity is no string of MQTT: it has U+0000, or half of a surrogate pair',
};

const NOTHING_SHOWN: Refusal = {
  refused: ReasonCode.NotAuthorized,
  reason: 'This broker asks for a token, or for a user name and a password',
};

/** For a name and a password no reason is given: it would say which names there are. */
function notTaken({ token }: Shown, reasons: string): Refusal {
  if (token !== undefined) {
    return { refused: ReasonCode.NotAuthorized, reason: `The token is not accepted: ${reasons}.` };
  }
  return {
    refused: ReasonCode.BadUserNameOrPassword,
    reason: 'The user name or the password is wrong',
  };
}
