import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { ban } from '../src/commands/ban.ts';
import { bans } from '../src/commands/bans.ts';
import { clients } from '../src/commands/clients.ts';
import { type Command, CommandError } from '../src/commands/command.ts';
import { UsageError } from '../src/commands/flags.ts';
import { kick } from '../src/commands/kick.ts';
import { presence } from '../src/commands/presence.ts';
import { rule } from '../src/commands/rule.ts';
import { stream } from '../src/commands/stream.ts';
import { unban } from '../src/commands/unban.ts';
import { commandsForTests } from './support/commands.ts';
import { doorsForTest } from './support/doors.ts';
import { type OperatedStack, startOperatorServices } from './support/operator-services.ts';

const KEY = 'a-key-of-more-than-22-characters';
const run = commandsForTests();

function fileWith(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-key-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'key'), content);
  return join(directory, 'key');
}

describe('the commands of the operator, at a node', () => {
  async function nodeWithKey() {
    const { url, httpUrl } = await doorsForTest({
      apiKey: KEY,
      authenticator: {
        // `NAME@TENANT`, or a name of the default tenant.
        authenticate: ({ username = '' }) => {
          const [name = '', tenant = 'default'] = username.split('@');
          return { tenant, name };
        },
      },
    });
    const broker = ['--url', httpUrl, '--api-key-file', fileWith(`${KEY}\n`)];
    return { url, broker };
  }

  it('kick a client, and report if there is none', async () => {
    const { url, broker } = await nodeWithKey();
    const { client } = await RawClient.connect(url, { clientId: 'a/b' });
    expect(await run(kick, 'a/b', ...broker)).toEqual(['The connection of "a/b" has been ended.']);
    expect((await client.expect('disconnect')).reasonCode).toBe(0x98);
    await expect(run(kick, 'a/b', ...broker)).rejects.toThrow('No client "a/b" is connected.');
  });

  it('act for the tenant of --tenant', async () => {
    const { url, broker } = await nodeWithKey();
    const ofNorth = ['--tenant', 'north', ...broker];
    await RawClient.connect(url, { clientId: 'phone', username: 'ann@north' });
    expect(await run(clients, ...broker)).toEqual([]);
    expect(await run(clients, ...ofNorth)).toEqual([expect.stringContaining('phone  ann')]);
    await run(ban, '--user', 'eve', ...ofNorth);
    expect(await run(bans, ...broker)).toEqual([]);
    expect(await run(bans, ...ofNorth)).toEqual([expect.stringContaining('eve')]);
    await expect(run(kick, 'phone', ...broker)).rejects.toThrow('No client "phone" is connected.');
    expect(await run(kick, 'phone', ...ofNorth)).toEqual(['The connection of "phone" has been ended.']);
  });

  it('list the members of a room, and escape their control characters', async () => {
    const { url, broker } = await nodeWithKey();
    const { client } = await RawClient.connect(url, { clientId: 'phone' });
    const topic = '$presence/room 7/ann';
    client.send({
      cmd: 'publish',
      topic,
      payload: 'here\u001b[2J',
      qos: 1,
      messageId: 1,
      retain: false,
      dup: false,
    });
    expect((await client.expect('puback')).reasonCode ?? 0).toBe(0);
    const [line, ...others] = await run(presence, 'room 7', ...broker);
    expect(others).toEqual([]);
    expect(line).toMatch(/^ann {2}\d{4}-.*Z {2}phone {2}"here\\u001b\[2J"$/);
    const [json = ''] = await run(presence, 'room 7', '--json', ...broker);
    expect(JSON.parse(json)).toMatchObject({ member: 'ann', clientids: ['phone'] });
    expect(await run(presence, 'elsewhere', ...broker)).toEqual([]);
  });

  it('list clients, ban one of them, list the ban and lift it', async () => {
    const { url, broker } = await nodeWithKey();
    const eve = await RawClient.connect(url, { clientId: 'eve', username: 'eve' });
    await RawClient.connect(url, { clientId: 'ada', username: 'ada' });
    expect(await run(clients, '--user', 'eve', ...broker)).toEqual([
      expect.stringMatching(/^eve {2}eve {2}connected since 20/),
    ]);
    expect(await run(clients, '--count', '1', ...broker)).toHaveLength(1);
    expect(await run(ban, '--user', 'eve', '--for', '12h', '--reason', 'spam', ...broker)).toEqual([
      expect.stringMatching(/^Banned: username "eve", until 20.*Z\.$/),
    ]);
    await eve.client.expect('disconnect');
    expect(await run(bans, ...broker)).toEqual([
      expect.stringMatching(/^username {2}eve {2}until .* {2}spam$/),
    ]);
    const [json = ''] = await run(bans, '--json', ...broker);
    expect(JSON.parse(json)).toMatchObject({ as: 'username', who: 'eve', reason: 'spam' });
    await run(unban, '--user', 'eve', ...broker);
    expect(await run(bans, ...broker)).toEqual([]);
    await expect(run(unban, '--user', 'eve', ...broker)).rejects.toThrow('no ban of the username "eve"');
  });

  it('report why the node refuses or does not answer', async () => {
    const { broker } = await nodeWithKey();
    const [, address = ''] = broker;
    await expect(run(bans, '--url', address)).rejects.toThrow('Send the key');
    await run(ban, '--client-id', 'x', ...broker);
    await expect(run(ban, '--client-id', 'x', ...broker)).rejects.toThrow('delete it first');
    await expect(run(ban, '--address', 'localhost', ...broker)).rejects.toThrow(CommandError);
    await expect(run(bans, '--url', 'http://127.0.0.1:9')).rejects.toThrow('Cannot reach http://127.0.0.1:9');
  });
});

describe('the commands of the operator, at a deployment', () => {
  async function stackThatAnswers(
    answer: OperatedStack['answer'],
  ): Promise<readonly Record<string, unknown>[]> {
    const asked: Record<string, unknown>[] = [];
    const endpoint = await startOperatorServices({
      stack: 'apus',
      functionName: 'apus-Operator-1',
      answer: (request) => {
        asked.push(request);
        return answer(request);
      },
    });
    vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIA');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent');
    return asked;
  }

  it('find the function by the stack, and report how many clients were disconnected', async () => {
    const entry = { as: 'token', who: 'jti-1', by: 'me', reason: '', at: '', until: 'infinity' };
    const asked = await stackThatAnswers(() => ({ ban: entry, expelled: 3, isComplete: true }));
    expect(await run(ban, '--token', 'jti-1', '--by', 'me', '--stack', 'apus')).toEqual([
      'Banned: token "jti-1", until it is taken back. Clients that were ended: 3.',
    ]);
    expect(asked).toEqual([{ action: 'ban', as: 'token', who: 'jti-1', by: 'me' }]);
  });

  it('list the streams of a deployment', async () => {
    const line = {
      name: 'chat',
      topic_filter: 'chat/#',
      keep_seconds: 60,
      messages_max: 5,
      topics: 2,
      messages: 3,
      bytes: 40,
    };
    const asked = await stackThatAnswers(() => ({ streams: [line] }));
    expect(await run(stream, 'list', '--stack', 'apus')).toEqual([
      'chat  chat/#  3 messages of 2 topics, 40 bytes  hands out 5 of a topic for 60 s',
    ]);
    expect(asked).toEqual([{ action: 'streams' }]);
  });

  it('list rules and their dead letters, send these again and discard them', async () => {
    const entry = { name: 'hot', dead_letters: 2 };
    const letter = { id: 'id-1', topic: 'a', error: 'answered 400', attempts: 1 };
    const answers: Readonly<Record<string, object>> = {
      list: { rules: [entry] },
      dead: { letters: [letter], isAll: true },
      send: { sent: 1, failure: 'answered 503' },
      discard: { discarded: 1 },
    };
    const asked = await stackThatAnswers(({ action }) => answers[String(action)] ?? {});
    const stack = ['--stack', 'apus'];
    expect(await run(rule, 'list', ...stack)).toEqual([JSON.stringify(entry)]);
    expect(await run(rule, 'dead', 'hot', ...stack)).toEqual([JSON.stringify(letter)]);
    await expect(run(rule, 'send', 'hot', ...stack)).rejects.toThrow('is still there: answered 503');
    await run(rule, 'discard', 'hot', 'id-1', '--tenant', 'acme', ...stack);
    expect(asked).toEqual([
      { action: 'list' },
      { action: 'dead', name: 'hot' },
      { action: 'send', name: 'hot' },
      { action: 'discard', name: 'hot', id: 'id-1', tenant: 'acme' },
    ]);
  });

  it('read the messages of a stream of a deployment', async () => {
    const line = {
      position: 'e-1',
      published_at: '2026-11-24T12:00:00.000Z',
      key: 'k',
      topic: 'chat/a',
      payload: Buffer.from('hello').toString('base64'),
    };
    const asked = await stackThatAnswers(() => ({ messages: [line], next: null }));
    const stdout = await run(stream, 'messages', 'chat', '--topic', 'chat/a', '--stack', 'apus');
    expect(stdout).toEqual(['2026-11-24T12:00:00.000Z  e-1  chat/a  key k  hello']);
    expect(asked).toEqual([{ action: 'stream-messages', name: 'chat', topic: 'chat/a' }]);
  });

  it('call the function by its name, for a tenant, page by page', async () => {
    const lineOf = (clientId: string) => ({
      clientId,
      username: 'eve',
      token: 'jti-1',
      isConnected: false,
      connectedAt: null,
    });
    const asked = await stackThatAnswers(({ after }) =>
      after === undefined ? { clients: [lineOf('a')], next: { p: 'p', s: 's' } } : { clients: [lineOf('b')] },
    );
    const args = ['--function', 'apus-Operator-1', '--tenant', 'north'];
    expect(await run(clients, ...args)).toEqual(['a  eve  token jti-1  away', 'b  eve  token jti-1  away']);
    expect(asked).toMatchObject([
      { action: 'clients', tenant: 'north' },
      { action: 'clients', tenant: 'north', after: { p: 'p', s: 's' } },
    ]);
  });

  it('report what is wrong: a request, the function, the stack', async () => {
    await stackThatAnswers(({ action }) =>
      action === 'bans' ? new Error('out of memory') : { error: 'The list is full.' },
    );
    await expect(run(unban, '--user', 'eve', '--stack', 'apus')).rejects.toThrow('The list is full.');
    await expect(run(bans, '--stack', 'apus')).rejects.toThrow(
      'has failed: {"errorMessage":"out of memory"}',
    );
    await expect(run(bans, '--stack', 'other')).rejects.toThrow(/Stack with id other does not exist/);
    await expect(run(bans, '--function', 'none')).rejects.toThrow(/Function not found/);
  });
});

describe("the arguments of the operator's commands", () => {
  it.each<[Command, string[], RegExp]>([
    [kick, [], /takes one client identifier/],
    [kick, ['a', 'b'], /takes one client identifier/],
    [ban, [], /takes one of --client-id/],
    [ban, ['--user', 'a', '--token', 'b'], /takes one of --client-id/],
    [ban, ['--user', 'a', '--for', '1y'], /--for takes a time up to 3650d/],
    [ban, ['--token', 'a', '--issued-before', 'now'], /goes with --user/],
    [unban, ['--user', 'a', 'b'], /takes one of --client-id/],
    [bans, ['a'], /only flags/],
    [bans, ['--stack', 'a', '--url', 'http://b'], /exclude each other/],
    [bans, ['--url', 'nowhere'], /takes a URL/],
    [bans, ['--api-key-file', '/nonexistent'], /cannot be read/],
  ])('%j %j', async (command, args, message) => {
    const running = run(command, ...args);
    await expect(running).rejects.toThrow(UsageError);
    await expect(running).rejects.toThrow(message);
  });
});

describe('the address of an API', () => {
  async function serve(handler: RequestListener): Promise<string> {
    const server = createServer(handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it.each(['', '/', '/below/this', '/below/this/', '/below/this/api/v5/', '/#/admin'])(
    'may be that of a page, or of a function that an emulator has below a path: %j',
    async (path) => {
      const asked: (string | undefined)[] = [];
      const url = await serve((request, response) => {
        asked.push(request.url);
        response.end('{"data": []}');
      });
      expect(await run(rule, 'list', '--url', `${url}${path}`)).toEqual([]);
      expect(asked).toEqual([`${path.startsWith('/below') ? '/below/this' : ''}/api/v5/rules`]);
    },
  );

  it.each([200, 404])('that is something else is reported in a sentence: a page with %i', async (status) => {
    const url = await serve((_, response) => void response.writeHead(status).end('<h1>Hello</h1>'));
    await expect(run(rule, 'list', '--url', url)).rejects.toThrow(`has answered ${status}: is it Apus?`);
  });
});
