import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseUsers, readIdentity } from '@apus/identity';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { CommandError } from '../src/commands/command.ts';
import { parseFlags, UsageError } from '../src/commands/flags.ts';
import { user } from '../src/commands/user.ts';
import { doorsForTest } from './support/doors.ts';
import { startOperatorServices } from './support/operator-services.ts';

let typed = '';
vi.mock('../src/commands/read-password.ts', () => ({ readPassword: async () => typed }));

const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  typed = 'secret';
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => vi.restoreAllMocks());

async function run(...args: string[]): Promise<string> {
  const from = lines.length;
  expect(await user.run(parseFlags(Object.assign({}, ...Object.values(user.flags)), args))).toBe(0);
  return lines.slice(from).join('\n');
}

function usersFile(): { path: string; directory: string; file: readonly string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'apus-users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'users.json');
  return { path, directory, file: ['--users', path] };
}

describe('apus user, at the users file of a node', () => {
  it('makes the file, which only its owner can read, and stores no password in it', async () => {
    const { path, directory, file } = usersFile();
    expect(await run('add', 'ada', '--publish', '%u/#', '--subscribe', 'news/+', ...file)).toContain(
      '"ada" may connect. It has: publish %u/#; subscribe news/+.',
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).not.toContain('secret');
    expect(parseUsers(readFileSync(path, 'utf8'), path).get('ada')).toMatchObject({
      rules: [
        { action: 'publish', topicFilters: ['%u/#'] },
        { action: 'subscribe', topicFilters: ['news/+'] },
      ],
    });
    expect(readdirSync(directory)).toEqual(['users.json']);
  });

  it('takes rules, client identifiers and quotas, as flags or as JSON, and lists them without hashes', async () => {
    const { file } = usersFile();
    const rule = { effect: 'deny', action: 'all', topicFilters: ['a/b'] };
    const flags = ['--rule', JSON.stringify(rule), '--client-id', '%u-+', '--quota', 'connectionsMax=1'];
    await run('add', 'ada', '--publish', 'a/#', ...flags, ...file);
    const entry = { publish: ['b/#'], subscribe: [], quotas: { connectionsMax: 2 } };
    await run('add', 'bob', '--json', JSON.stringify(entry), ...file);
    const listed = (await run('list', ...file)).split('\n');
    expect(listed.map((line) => [line.slice(0, 3), JSON.parse(line.slice(5))])).toEqual([
      [
        'ada',
        {
          rules: [rule],
          publish: ['a/#'],
          subscribe: [],
          clientIds: ['%u-+'],
          quotas: { connectionsMax: 1 },
        },
      ],
      ['bob', entry],
    ]);
    expect(listed.join()).not.toContain('scrypt');
  });

  it('changes the password of one user, and removes one; the others stay unchanged', async () => {
    const { path, file } = usersFile();
    for (const name of ['ada', 'bob']) await run('add', name, '--publish', '#', ...file);
    const before = parseUsers(readFileSync(path, 'utf8'), path);
    await run('passwd', 'bob', ...file);
    const after = parseUsers(readFileSync(path, 'utf8'), path);
    expect(after.get('ada')).toEqual(before.get('ada'));
    expect(after.get('bob')?.password).not.toEqual(before.get('bob')?.password);
    await run('remove', 'ada', ...file);
    expect([...parseUsers(readFileSync(path, 'utf8'), path).keys()]).toEqual(['bob']);
  });

  it('is noticed by a running node: a user is added, changes its password, and is removed', async () => {
    const { path, file } = usersFile();
    await run('add', 'ada', '--subscribe', '#', ...file);
    const identity = readIdentity({ authenticators: [{ users: { file: path } }] }, 'test');
    const { url, reread } = await doorsForTest({ identity });
    const connect = async (username: string, password: string) =>
      await RawClient.connect(url, { clientId: username, username, password: Buffer.from(password) });
    await run('add', 'bob', '--subscribe', '#', ...file);
    await reread();
    const { client, connack } = await connect('bob', 'secret');
    expect(connack.reasonCode).toBe(0);
    typed = 'another';
    await run('passwd', 'bob', ...file);
    await reread();
    expect((await connect('bob', 'secret')).connack.reasonCode).toBe(0x86);
    await run('remove', 'bob', ...file);
    await reread();
    expect((await client.expect('disconnect')).reasonCode).toBe(0x87);
    expect((await connect('bob', 'another')).connack.reasonCode).toBe(0x86);
    expect((await connect('ada', 'secret')).connack.reasonCode).toBe(0);
  });

  it('leaves the file alone if there is nothing to do, and says why', async () => {
    const { path, file, directory } = usersFile();
    await run('add', 'ada', '--publish', '#', ...file);
    const before = readFileSync(path, 'utf8');
    await expect(run('add', 'ada', ...file)).rejects.toThrow('There is a user "ada" already');
    await expect(run('remove', 'eve', ...file)).rejects.toThrow(new CommandError('There is no user "eve".'));
    await expect(run('passwd', 'eve', ...file)).rejects.toThrow('There is no user "eve".');
    typed = '';
    await expect(run('add', 'bob', ...file)).rejects.toThrow('The password is empty.');
    typed = 'secret';
    writeFileSync(join(directory, 'users.json.new'), '');
    await expect(run('add', 'bob', ...file)).rejects.toThrow('another command writes it now, or has died');
    rmSync(join(directory, 'users.json.new'));
    expect(readFileSync(path, 'utf8')).toBe(before);
    writeFileSync(path, '{"users": [{}]}');
    await expect(run('add', 'bob', ...file)).rejects.toThrow('users[0].name has to be');
    expect(readFileSync(path, 'utf8')).toBe('{"users": [{}]}');
  });

  it('loses no change of two commands at the same time', async () => {
    const { path, file } = usersFile();
    await run('add', 'first', ...file);
    const names = Array.from({ length: 8 }, (_, index) => `user-${index}`);
    await Promise.all(names.map((name) => run('add', name, ...file)));
    expect([...parseUsers(readFileSync(path, 'utf8'), path).keys()].sort()).toEqual(['first', ...names]);
  });

  it.each<[string[], string | RegExp]>([
    [['add', 'ada', '--stack', 'Mine'], '--users FILE, for a node, or --stack NAME'],
    [[], 'It is `apus user add NAME`'],
    [['add'], 'It is `apus user add NAME`'],
    [['add', 'ada', 'secret'], 'It is `apus user add NAME`'],
    [['list', 'ada'], 'It is `apus user add NAME`'],
    [['toString', 'ada'], 'It is `apus user add NAME`'],
    [['passwd', 'ada', '--publish', '#'], '--publish is for `apus user add`'],
    [['add', 'ada', '--publish', 'a/#/b'], /--publish\[0\]/],
    [['add', 'ada', '--quota', 'x=1'], 'There is no quota "x"'],
    [['add', 'ada', '--quota', 'many'], 'connectionsMax=1'],
    [['add', 'ada', '--json', '{'], '--json takes JSON'],
    [['add', 'ada', '--json', '{"password": "x"}'], 'without "name" and "password"'],
    [['add', 'ada', '--json', '{}', '--publish', '#'], '--json says all'],
  ])('%j is answered with a sentence', async (args, sentence) => {
    const { file } = usersFile();
    const running = run(...args, ...file);
    await expect(running).rejects.toThrow(UsageError);
    await expect(running).rejects.toThrow(sentence);
  });
});

describe('apus user, at a deployment', () => {
  it('calls the operator’s function, which gets a hash and no password', async () => {
    const asked: unknown[] = [];
    const answers: Readonly<Record<string, readonly [number, object?]>> = {
      'POST /api/v5/users': [204],
      'PUT /api/v5/users/ada': [204],
      'GET /api/v5/users': [200, { data: [{ name: 'ada', publish: ['#'] }], meta: { hasnext: false } }],
      'DELETE /api/v5/users/eve': [404, { code: 'NOT_FOUND', message: 'There is no user "eve".' }],
    };
    await startOperatorServices({
      ...{ stack: 'Mine', functionName: 'Mine-Operator' },
      answer: ({ rawPath, requestContext, headers, body }) => {
        expect(headers).toEqual({ 'apus-tenant': 'shop' });
        if (typeof body === 'string') asked.push(JSON.parse(body));
        const { method } = (requestContext as { http: { method: string } }).http;
        const [statusCode, answer] = answers[`${method} ${rawPath}`] ?? [500];
        return { statusCode, body: answer === undefined ? '' : JSON.stringify(answer) };
      },
    });
    const stack = ['--stack', 'Mine', '--tenant', 'shop'];
    await run('add', 'ada', '--publish', '#', ...stack);
    await run('passwd', 'ada', ...stack);
    expect(await run('list', ...stack)).toBe('ada  {"publish":["#"]}');
    await expect(run('remove', 'eve', ...stack)).rejects.toThrow('There is no user "eve".');
    const password = expect.stringMatching(/^scrypt:/);
    expect(asked).toEqual([{ name: 'ada', password, publish: ['#'], subscribe: [] }, { password }]);
  });

  it('says that there is a user of that name', async () => {
    const body = JSON.stringify({ code: 'ALREADY_EXISTS', message: 'There is one.' });
    const answer = () => ({ statusCode: 400, body });
    await startOperatorServices({ stack: 'Mine', functionName: 'Mine-Operator', answer });
    await expect(run('add', 'ada', '--stack', 'Mine')).rejects.toThrow(
      'There is a user "ada" already: `apus',
    );
  });
});
