import {
  type AuthenticationMethod,
  type AuthenticationStep,
  type Awaitable,
  type Credentials,
  type Identity,
  type Peer,
  reasonOf,
  Unavailable,
} from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';

/**
 * The names that Azure Event Grid uses: the first for tokens of Microsoft Entra, the second for those of any other
 * issuer. Clients written for it use either; here both mean the same.
 */
const METHOD_NAMES = ['OAUTH2-JWT', 'CUSTOM-JWT'] as const;

interface TokenRefused {
  readonly refused: unknown;
  readonly reason: string;
}

/** Checks a token, as the handshake does. */
export interface TokenCheck {
  /** Rejects, or returns 0x88, only if a source that it needs is unavailable. */
  verify(token: string, address: string): Awaitable<Identity | TokenRefused>;
}

/** The token cannot be checked now. CONNACK says this with 0x88, which DISCONNECT does not have. */
class CheckUnavailable extends Unavailable {
  readonly reasonCode = ReasonCode.ServerBusy;
}

/**
 * Enhanced authentication with a token, in one step (section 4.12). Authentication Data is the token in UTF-8. CONNECT
 * may omit it if the handshake had a token; AUTH with reason code 0x19 always has one.
 */
export function tokenMethods(tokens: TokenCheck): AuthenticationMethod[] {
  return METHOD_NAMES.map((name) => new TokenMethod(name, tokens));
}

class TokenMethod implements AuthenticationMethod {
  readonly name: string;
  readonly #tokens: TokenCheck;

  constructor(name: string, tokens: TokenCheck) {
    this.name = name;
    this.#tokens = tokens;
  }

  async begin(data: Uint8Array | undefined, { peer }: Credentials): Promise<AuthenticationStep> {
    if (data !== undefined && data.length > 0) return await this.#check(data, peer);
    return peer.identity === undefined ? failure('no token was sent') : success(peer.identity);
  }

  /** There is no second step: the broker would ask for one only if the first said so. */
  continue(): AuthenticationStep {
    return failure('a token is checked in one step');
  }

  async #check(data: Uint8Array, { address, identity: handshake }: Peer): Promise<AuthenticationStep> {
    const identity = await this.#verify(new TextDecoder().decode(data), address);
    if ('refused' in identity) return failure(identity.reason);
    // The guess counts of the handshake belong to that name.
    if (handshake !== undefined && !isSame(identity, handshake)) {
      return failure('the token names somebody else than the handshake did');
    }
    return success(identity);
  }

  async #verify(token: string, address: string): Promise<Identity | TokenRefused> {
    try {
      const answer = await this.#tokens.verify(token, address);
      if (!('refused' in answer) || answer.refused !== ReasonCode.ServerUnavailable) return answer;
      throw new Error(answer.reason);
    } catch (cause) {
      throw new CheckUnavailable(`a token cannot be checked: ${reasonOf(cause)}`, { cause });
    }
  }
}

function isSame(one: Identity, other: Identity): boolean {
  return one.tenant === other.tenant && one.name === other.name;
}

function success(identity: Identity): AuthenticationStep {
  return { outcome: 'success', data: undefined, identity };
}

function failure(reason: string): AuthenticationStep {
  return { outcome: 'failure', refused: ReasonCode.NotAuthorized, reason };
}
