import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Identity, Log, Refusal } from '@apus/broker';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { hashPassword, UsersAuthenticator, WatchedUsersFile } from '../src/index.ts';

const ADA: Identity = { tenant: 'default', name: 'ada' };

let right: string;
let other: string;
beforeAll(async () => {
  right = await hashPassword(Buffer.from('right'));
  other = await hashPassword(Buffer.from('other'));
});

interface Entry {
  readonly name: string;
  readonly password: string;
  readonly subscribe?: readonly string[];
}

/** A users file that is watched, with an authenticator over it. The test looks for changes itself. */
class Stage {
  readonly path: string;
  readonly file: WatchedUsersFile;
  readonly changes: (readonly string[])[] = [];
  readonly errors: unknown[] = [];
  /** Pending calls of the scheduler. */
  callback: (() => void) | undefined;
  readonly #authenticator: UsersAuthenticator;

  constructor(entries: readonly Entry[]) {
    const directory = mkdtempSync(join(tmpdir(), 'apus-users-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    this.path = join(directory, 'users.json');
    this.write(entries);
    this.file = new WatchedUsersFile(this.path);
    this.#authenticator = new UsersAuthenticator({
      users: this.file,
      tenant: 'default',
      clock: { now: () => 0 },
    });
    const log: Log = {
      debug() {},
      info() {},
      warn() {},
      error: (event, fields) => this.errors.push([event, fields?.error]),
    };
    const after = (_delayMs: number, callback: () => void) => {
      this.callback = callback;
      return () => {
        this.callback = undefined;
      };
    };
    this.file.watch({
      scheduler: { now: () => 0, after },
      log,
      onChange: (names) => this.changes.push(names),
    });
  }

  write(entries: readonly Entry[]): void {
    const users = entries.map((entry) => ({ publish: [], subscribe: [], ...entry }));
    this.writeText(JSON.stringify({ users }));
  }

  writeText(text: string): void {
    writeFileSync(`${this.path}.new`, text);
    renameSync(`${this.path}.new`, this.path);
  }

  async answer(username: string, password: string): Promise<Identity | Refusal> {
    const peer = { address: '192.0.2.1:1' };
    return this.#authenticator.authenticate({
      clientId: '',
      username,
      password: Buffer.from(password),
      peer,
    });
  }
}

test('an added user can connect, and a removed one cannot, even if its password was remembered [SEC-GUESS-6]', async () => {
  const stage = new Stage([{ name: 'ada', password: right }]);
  expect(await stage.answer('ada', 'right')).toEqual(ADA);
  stage.write([{ name: 'bob', password: right }]);
  await stage.file.look();
  expect(await stage.answer('ada', 'right')).toMatchObject({ refused: 0x86 });
  expect(await stage.answer('bob', 'right')).toEqual({ ...ADA, name: 'bob' });
  expect(stage.changes).toEqual([['ada', 'bob']]);
});

test('a changed password is required, and the old one is wrong, even if it was remembered [SEC-GUESS-6]', async () => {
  const stage = new Stage([{ name: 'ada', password: right }]);
  expect(await stage.answer('ada', 'right')).toEqual(ADA);
  stage.write([{ name: 'ada', password: other }]);
  await stage.file.look();
  expect(await stage.answer('ada', 'right')).toMatchObject({ refused: 0x86 });
  expect(await stage.answer('ada', 'other')).toEqual(ADA);
});

test('a password is wrong if its user is removed during the check', async () => {
  const stage = new Stage([{ name: 'ada', password: right }]);
  await stage.file.look();
  const answer = stage.answer('ada', 'right');
  stage.write([]);
  await stage.file.look();
  expect(await answer).toMatchObject({ refused: 0x86 });
});

test('only changed users are named, and others keep their remembered passwords', async () => {
  const stage = new Stage([
    { name: 'ada', password: right },
    { name: 'bob', password: right },
  ]);
  const before = stage.file.get('ada')?.password;
  stage.write([
    { name: 'ada', password: right, subscribe: ['news/#'] },
    { name: 'bob', password: right },
  ]);
  await stage.file.look();
  expect(stage.changes).toEqual([['ada']]);
  expect(JSON.stringify(stage.file.get('ada')?.rules)).toContain('news/#');
  expect(stage.file.get('ada')?.password).toBe(before);
});

test.each<[string, string, RegExp]>([
  ['is not JSON', '{"users": [', /is not JSON.*former users stay/],
  ['is empty', '', /is not JSON/],
  ['has a wrong hash', '{"users": [{"name": "ada", "password": "right"}]}', /users\[0\]\.password/],
])('a file that %s is logged once, and the former users stay', async (_what, text, sentence) => {
  const stage = new Stage([{ name: 'ada', password: right }]);
  stage.writeText(text);
  await stage.file.look();
  await stage.file.look();
  expect(stage.errors).toEqual([['users-file-not-read', expect.stringMatching(sentence)]]);
  expect(await stage.answer('ada', 'right')).toEqual(ADA);
  expect(stage.changes).toEqual([]);
});

test('a missing file is logged once, and read when it is back', async () => {
  const stage = new Stage([{ name: 'ada', password: right }]);
  rmSync(stage.path);
  await stage.file.look();
  await stage.file.look();
  expect(stage.errors).toEqual([['users-file-not-read', expect.stringMatching(/cannot be read/)]]);
  stage.write([{ name: 'bob', password: right }]);
  await stage.file.look();
  expect(stage.changes).toEqual([['ada', 'bob']]);
});

test('the scheduler checks again and again', async () => {
  const stage = new Stage([{ name: 'ada', password: right }]);
  for (const name of ['bob', 'carol']) {
    stage.write([{ name, password: right }]);
    stage.callback?.();
    await expect.poll(() => stage.file.get(name)).toBeDefined();
  }
  stage.file.stop();
  expect(stage.callback).toBeUndefined();
});
