import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
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

  it.each(['.', '..', '%2e', 'a?b'])('take the name %s, which a URL would resolve', async (name) => {
    const { url, broker } = await nodeWithKey();
    await RawClient.connect(url, { clientId: name });
    expect(await run(kick, name, ...broker)).toEqual([`The connection of "${name}" has been ended.`]);
    await run(ban, '--client-id', name, ...broker);
    expect(await run(bans, ...broker)).toHaveLength(1);
    await run(unban, '--client-id', name, ...broker);
    expect(await run(bans, ...broker)).toEqual([]);
    const { client } = await RawClient.connect(url, { clientId: 'phone' });
    const topic = `$presence/${name}/ann`;
    client.send({ cmd: 'publish', topic, payload: 'here', qos: 1, messageId: 1, retain: false, dup: false });
    await client.expect('puback');
    expect(await run(presence, name, ...broker)).toEqual([expect.stringContaining('phone')]);
  });

  const HOSTILE = 'a\nb  connected\u001b[2J\u009b31m\u202etxt';
  const PLAIN = 'a\\u000ab  connected\\u001b[2J\\u009b31m\\u202etxt';

  it('print a name of a client as one line that no terminal obeys [SEC-LOG-5]', async () => {
    const { url, broker } = await nodeWithKey();
    await RawClient.connect(url, { clientId: HOSTILE, username: HOSTILE });
    expect(await run(clients, ...broker)).toEqual([expect.stringContaining(`${PLAIN}  ${PLAIN}  connected`)]);
    const [json = ''] = await run(clients, '--json', ...broker);
    expect(json).toContain('\\u202e');
    expect(JSON.parse(json)).toMatchObject({ clientId: HOSTILE });
    expect(await run(kick, HOSTILE, ...broker)).toEqual([`The connection of "${PLAIN}" has been ended.`]);
    expect(await run(ban, '--client-id', HOSTILE, ...broker)).toEqual([expect.stringContaining(PLAIN)]);
    expect(await run(bans, ...broker)).toEqual([expect.stringContaining(PLAIN)]);
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
    expect(line).toMatch(/^ann {2}\d{4}-.*Z {2}phone {2}here\\u001b\[2J$/);
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
  type Event = Readonly<Record<string, unknown>>;

  async function stackThatAnswers(answer: OperatedStack['answer']): Promise<readonly Event[]> {
    const asked: Event[] = [];
    await startOperatorServices({
      ...{ stack: 'apus', functionName: 'apus-Operator-1' },
      answer: (event) => {
        asked.push(event);
        return answer(event);
      },
    });
    return asked;
  }

  /** As a function URL answers. */
  const answered = (statusCode: number, body: object) => ({ statusCode, body: JSON.stringify(body) });

  it('invoke the function of a stack with the event of a function URL, and report how many were disconnected', async () => {
    const request = { as: 'token', who: 'jti-1', by: 'me' };
    const asked = await stackThatAnswers(() =>
      answered(200, { ...request, until: 'infinity', expelled: 3, is_complete: false }),
    );
    const [sentence] = await run(ban, '--token', 'jti-1', '--by', 'me', '--stack', 'apus');
    expect(sentence).toMatch(
      /^Banned: token "jti-1", until it is taken back. Clients that were ended: 3. Some/,
    );
    expect(asked).toEqual([
      {
        ...{ rawPath: '/api/v5/banned', rawQueryString: '', headers: {} },
        requestContext: { http: { method: 'POST' } },
        body: JSON.stringify(request),
      },
    ]);
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

  it('call the function by its name, for a tenant, page by page', async () => {
    const clientOf = (clientid: string) => ({
      clientid,
      username: 'eve',
      token_id: 'jti-1',
      connected: false,
    });
    const asked = await stackThatAnswers(({ rawQueryString }) =>
      String(rawQueryString).includes('after=next')
        ? answered(200, { data: [clientOf('b')], meta: { hasnext: false, next: null } })
        : answered(200, { data: [clientOf('a')], meta: { hasnext: true, next: 'next' } }),
    );
    const args = ['--function', 'apus-Operator-1', '--tenant', 'north'];
    expect(await run(clients, ...args)).toEqual(['a  eve  token jti-1  away', 'b  eve  token jti-1  away']);
    const headers = { 'apus-tenant': 'north' };
    expect(asked).toMatchObject([
      { headers, rawQueryString: 'page=1&limit=1000' },
      { headers, rawQueryString: 'after=next&limit=1000' },
    ]);
  });

  it('report what is wrong: a request, the function, the stack', async () => {
    await stackThatAnswers(({ rawPath }) => {
      if (rawPath === '/api/v5/banned') return new Error('out of memory');
      if (rawPath === '/api/v5/streams') return { error: '"action" is one of …' };
      return answered(400, { code: 'BAD_REQUEST', message: 'The list is full.' });
    });
    await expect(run(unban, '--user', 'eve', '--stack', 'apus')).rejects.toThrow('The list is full.');
    await expect(run(bans, '--stack', 'apus')).rejects.toThrow(
      'has failed: {"errorMessage":"out of memory"}',
    );
    await expect(run(stream, 'list', '--stack', 'apus')).rejects.toThrow('of another version of Apus');
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
