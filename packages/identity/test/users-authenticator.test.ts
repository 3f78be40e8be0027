import { randomBytes, scryptSync } from 'node:crypto';
import type { Identity, Refusal } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import { isPassword, parseUsers, UsersAuthenticator } from '../src/index.ts';

const ADA: Identity = { tenant: 'default', name: 'ada' };
const HERE = '192.0.2.1:5000';
const ELSEWHERE = '192.0.2.2:5000';

/** The lowest cost that scrypt allows: the tests count hashes, and some ask for hundreds. */
const COST = 2;

function hashOf(password: string): string {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { cost: COST, blockSize: 8, parallelization: 1 });
  return ['scrypt', COST, 8, 1, ...[salt, key].map((bytes) => bytes.toString('base64url'))].join(':');
}

const password = hashOf('right');
const entries = ['ada', 'bob'].map((name) => ({ name, password, publish: [], subscribe: [] }));
const users = parseUsers(JSON.stringify({ users: entries }), 'users.json');

/** An authenticator whose scrypt is counted, and a clock that the test moves. */
class Stage {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  hashes = 0;
  hashesAtOnceMax = 0;
  #hashing = 0;
  readonly #authenticator = new UsersAuthenticator({
    users,
    tenant: 'default',
    clock: { now: () => this.nowMs },
    isPassword: async (password, hash) => {
      this.hashes++;
      this.hashesAtOnceMax = Math.max(this.hashesAtOnceMax, ++this.#hashing);
      try {
        return await isPassword(password, { ...hash, cost: COST });
      } finally {
        this.#hashing--;
      }
    },
  });

  async answer(username: string, password: string, address = HERE): Promise<Identity | Refusal> {
    const peer = { address };
    return this.#authenticator.authenticate({
      clientId: 'c',
      username,
      password: Buffer.from(password),
      peer,
    });
  }

  async wrong(times: number, username: string, address = HERE): Promise<void> {
    for (let time = 0; time < times; time++) await this.answer(username, `wrong ${time}`, address);
  }
}

describe('150 wrong passwords at once', () => {
  test('for many names do not delay the login of another client [SEC-GUESS-4]', async () => {
    const stage = new Stage();
    const guesses = Array.from({ length: 150 }, (_, index) => stage.answer(`name ${index}`, 'wrong'));
    expect(await stage.answer('ada', 'right', ELSEWHERE)).toEqual(ADA);
    expect(stage.hashes).toBeLessThanOrEqual(4);
    await Promise.all(guesses);
  });

  test('for one name, from many addresses, do not delay the login of another name', async () => {
    const stage = new Stage();
    const guesses = Array.from({ length: 150 }, (_, index) =>
      stage.answer('bob', 'wrong', `198.51.100.${index}`),
    );
    expect(await stage.answer('ada', 'right', ELSEWHERE)).toEqual(ADA);
    expect(stage.hashes).toBeLessThanOrEqual(4);
    await Promise.all(guesses);
  });

  test('for many names, from the same address, neither delay nor block it', async () => {
    const stage = new Stage();
    const guesses = Array.from({ length: 150 }, (_, index) => stage.answer(`name ${index}`, 'wrong'));
    expect(await stage.answer('ada', 'right')).toEqual(ADA);
    expect(stage.hashes).toBeLessThanOrEqual(4);
    await Promise.all(guesses);
    expect(await stage.answer('bob', 'right')).toEqual({ ...ADA, name: 'bob' });
  });

  test('use at most two of the four threads, which the disk needs too [SEC-GUESS-4]', async () => {
    const stage = new Stage();
    const addresses = Array.from({ length: 150 }, (_, index) => `198.51.100.${index}`);
    await Promise.all(addresses.map((address) => stage.answer('bob', 'wrong', address)));
    expect(stage.hashesAtOnceMax).toBeLessThanOrEqual(2);
  });

  test('for one name from one address are not all hashed', async () => {
    const stage = new Stage();
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, index) => stage.answer('ada', `wrong ${index}`)),
    );
    expect(answers.filter((answer) => 'refused' in answer && answer.refused === 0x9f)).toHaveLength(
      150 - stage.hashes,
    );
    expect(stage.hashes).toBeLessThanOrEqual(6);
  });
});

test('a right password is not recognised while its address has to wait, even if it is remembered [SEC-GUESS-1]', async () => {
  const stage = new Stage();
  expect(await stage.answer('ada', 'right', ELSEWHERE)).toEqual(ADA);
  await stage.wrong(6, 'ada');
  expect(await stage.answer('ada', 'right')).toMatchObject({ refused: 0x9f });
  stage.nowMs += 2_000;
  expect(await stage.answer('ada', 'right')).toEqual(ADA);
});

test('no user is locked out by guesses from other addresses [SEC-GUESS-2]', async () => {
  const stage = new Stage();
  await stage.wrong(20, 'ada');
  expect(await stage.answer('ada', 'right', ELSEWHERE)).toEqual(ADA);
});

test('a hundred clients that share one right password cost few hashes, and none is refused', async () => {
  const stage = new Stage();
  const answers = await Promise.all(Array.from({ length: 100 }, () => stage.answer('ada', 'right')));
  expect(answers).toEqual(answers.map(() => ADA));
  expect(stage.hashes).toBeLessThanOrEqual(2);
});

test.each([
  ['password', 'ada', 'x'.repeat(1_025)],
  ['name', 'x'.repeat(1_025), 'right'],
])('a %s of more than 1,024 bytes is wrong, and is not kept', async (_what, name, password) => {
  const stage = new Stage();
  expect(await stage.answer(name, password)).toMatchObject({ refused: 0x86 });
  expect(stage.hashes).toBe(0);
});
