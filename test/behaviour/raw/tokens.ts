import { type Identity, rulesOfLists } from '@apus/broker';
import { tokenMethods } from '@apus/identity';

/** Of the two names that a token has as a method, the one that these tests use. */
export const TOKEN_METHOD = 'CUSTOM-JWT';

const HOUR_MS = 3_600_000;

/** How long a token with the word `brief` lasts. */
export const BRIEF_SECONDS = 1;

/**
 * Methods whose tokens say in words what a JSON Web Token says in claims: `ada` names Ada, `ada brief` names her for a
 * second, `ada narrow` allows her no more than `open/#`, `ada 2` is another token of hers; and `forged` and `expired` are
 * refused as the verifier of JSON Web Tokens does it.
 */
export const wordMethods = tokenMethods({
  verify(token) {
    const [name = '', ...words] = token.split(' ');
    if (name === 'expired') return { refused: 'expired', reason: 'The token has expired.' };
    if (!/^[a-z]+$/.test(name) || name === 'forged') {
      return { refused: 'invalid', reason: 'The token is not valid.' };
    }
    return identityOf(name, words);
  },
});

function identityOf(name: string, words: readonly string[]): Identity {
  const filters = words.includes('narrow') ? ['open/#'] : ['#'];
  const lifeMs = words.includes('brief') ? BRIEF_SECONDS * 1_000 : HOUR_MS;
  return { tenant: 'default', name, rules: rulesOfLists(filters, filters), expiresAtMs: Date.now() + lifeMs };
}
