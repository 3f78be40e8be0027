import { type Identity, type Refusal, rulesOfLists } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import type { Answer, ChainAuthenticator, Shown } from '../answer.ts';
import { readToken } from '../jwt/token.ts';
import { SourceUnavailable } from '../refreshed.ts';
import { type ApiKey, findApiKey, nameOfKey, type ShownKey } from './api-key.ts';
import type { ApiKeySource } from './api-key-source.ts';

/** Longer texts are no keys. */
const KEY_LENGTH_MAX = 1_024;

const AWAY: Refusal = {
  refused: ReasonCode.ServerUnavailable,
  reason: 'The keys cannot be read now; try again.',
};
const UNKNOWN = { notMine: 'it is no key that is known here' };

/** Authenticates by API keys: the token of a handshake, or in CONNECT with the key's name as user name. */
export class ApiKeyAuthenticator implements ChainAuthenticator {
  readonly source: string;
  readonly #keys: ApiKeySource;

  constructor(source: string, keys: ApiKeySource) {
    this.source = source;
    this.#keys = keys;
  }

  async authenticate(shown: Shown): Promise<Answer> {
    const credential = shownIn(shown);
    if (credential === undefined) return UNKNOWN;
    try {
      const key = await this.#keys.find((keys) => findApiKey(keys, credential));
      return key === undefined ? UNKNOWN : this.#identityOf(key);
    } catch (error) {
      if (error instanceof SourceUnavailable) return AWAY;
      throw error;
    }
  }

  async probe(): Promise<void> {
    await this.#keys.find(() => undefined);
  }

  #identityOf(key: ApiKey): Identity {
    const { tenant, publish, subscribe, quotas } = key;
    const name = nameOfKey(key);
    return {
      tenant,
      name,
      rules: rulesOfLists(publish, subscribe),
      tokenId: name,
      source: this.source,
      ...(quotas !== undefined && { quotas }),
    };
  }
}

function shownIn({ token, username, password }: Shown): ShownKey | undefined {
  if (token !== undefined) return isKey(token) ? { name: undefined, key: token } : undefined;
  if (password === undefined || username === undefined || password.length > KEY_LENGTH_MAX) return undefined;
  return { name: username, key: Buffer.from(password).toString('latin1') };
}

function isKey(token: string): boolean {
  return token.length <= KEY_LENGTH_MAX && readToken(token) === undefined;
}
