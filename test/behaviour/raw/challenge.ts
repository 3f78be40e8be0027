import {
  type AuthenticationMethod,
  type AuthenticationStep,
  type Authenticator,
  type Identity,
  rulesOfLists,
} from '@apus/broker';

/** The method that these tests teach a door of their own. */
export const METHOD = 'X-CHALLENGE';

const REFUSED_NOT_AUTHORIZED = 0x87;

/**
 * `begin` answers a name with "who is {name}?" and lets `trusted` in at once; `continue` takes `right` for an
 * answer, asks once more after `again`, and refuses all else.
 */
export const challengeMethod: AuthenticationMethod = {
  name: METHOD,
  begin(data) {
    const name = textOf(data);
    if (name === 'trusted') return success(name);
    return { outcome: 'continue', data: Buffer.from(`who is ${name}?`), state: name };
  },
  continue(data, state) {
    const answer = textOf(data);
    if (answer === 'right') return success(String(state));
    if (answer === 'again') return { outcome: 'continue', data: Buffer.from('again?'), state };
    return { outcome: 'failure', refused: REFUSED_NOT_AUTHORIZED, reason: 'the answer is wrong' };
  },
};

/** Knows that `alice` has the password `secret`, and that `mallory` may not come in with any. */
export const passwordAuthenticator: Authenticator = {
  authenticate({ username, password }) {
    if (username === 'mallory') return { refused: REFUSED_NOT_AUTHORIZED, reason: 'mallory is not welcome' };
    if (username === 'alice' && textOf(password) === 'secret') return identity('alice');
    return { refused: 0x86, reason: 'no such user name and password' };
  },
};

function identity(name: string): Identity {
  return { tenant: 'default', name, rules: rulesOfLists(['#'], ['#']) };
}

function success(name: string): AuthenticationStep {
  return { outcome: 'success', data: Buffer.from('welcome'), identity: identity(name) };
}

function textOf(data: Uint8Array | undefined): string {
  return Buffer.from(data ?? []).toString();
}
