import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Identity, rulesOfLists } from '@apus/broker';
import { FixedKeys, JwtAuthenticator, secretKey } from '@apus/identity';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { Built, outcomeOf } from './support/built.ts';

const apus = new Built();

function temporaryFile(name: string, content: string | Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, name), content);
  return join(directory, name);
}

describe('the command line itself', () => {
  test.each([
    'serve',
    'pub',
    'sub',
    'passwd',
    'user',
    'token',
    'identity',
    'clients',
    'kick',
    'ban',
    'unban',
    'bans',
    'stream',
    'presence',
  ])('`apus %s --help` shows its flags', async (command) => {
    const { code, stdout } = await apus.run([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: apus ${command}`);
    expect(stdout).toContain('--help');
  });

  test('`apus --help` shows the commands, `apus --version` the version', async () => {
    expect((await apus.run(['--help'])).stdout).toMatch(/serve.*pub.*sub.*passwd/s);
    expect((await apus.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each<[string[], RegExp]>([
    [['fly'], /no command "fly"/],
    [['serve', '--wings'], /'--wings'.*apus serve --help/],
    [['serve', 'x'], /only flags, not "x"/],
    [['serve', '--port', '65536'], /--port takes a whole number from 0 to 65535, not "65536"/],
    [['serve', '--receive-maximum', '0'], /--receive-maximum has to be at least 1/],
    [['serve', '--queue-length-max', '1e3'], /--queue-length-max takes a whole number/],
    [['serve', '--log', 'xml'], /--log is one of json, text/],
    [['serve', '--log-level', 'loud'], /--log-level is one of debug, info/],
    [['serve', '--users', 'u', '--allow-anonymous'], /exclude each other/],
    [['pub', '-m', 'x'], /needs a topic/],
    [['pub', '-t', 'a'], /one of -m TEXT, -f FILE and --stdin-lines/],
    [['pub', '-t', 'a/#', '-m', 'x'], /no wildcards/],
    [['pub', '-t', 'a', '-m', 'x', '--user-property', 'a'], /NAME=VALUE/],
    [['pub', '-t', 'a', '-m', 'x', '--mqtt-version', '3.1.1', '--content-type', 'a'], /Only MQTT 5/],
    [['sub'], /needs a topic filter/],
    [['sub', '-t', 'a/#/b'], /#/],
    [['sub', '-t', 'a', '--keep'], /--client-id/],
    [['sub', '-t', 'a', '--rewind', 'all'], /--rewind takes a number of messages/],
    [['sub', '-t', 'a', '--rewind', '5', '--mqtt-version', '3.1.1'], /--rewind needs MQTT 5/],
    [['serve', '--streams', '/nonexistent'], /--streams \/nonexistent: /],
    [['sub', '-t', 'a', '--stream-offset', 'soon'], /--stream-offset takes earliest/],
    [['sub', '-t', 'a', '--stream-position', '7'], /--stream-position takes the stream-position/],
    [['sub', '-t', 'a', '--stream-position', 'e-7', '--mqtt-version', '3.1.1'], /needs MQTT 5/],
    [['sub', '-t', 'a', '--rewind', '5', '--stream-offset', 'latest'], /exclude each other/],
    [['stream'], /takes `list`/],
    [['presence'], /takes the name of one room/],
    [['stream', 'messages'], /the name of a stream/],
    [['stream', 'messages', 'chat', '--limit', '0'], /--limit takes a number from 1 to 1000/],
    [['stream', 'list', '--reverse'], /takes no --reverse/],
    [['sub', '-t', 'a', '-u', 'nowhere'], /--url takes a URL/],
    [['passwd', 'secret'], /asks for the password/],
    [['token'], /needs a name/],
    [['token', '--sub', 'ada', '--expires', '1y'], /up to 30d/],
    [['token', '--sub', 'ada', '--publish', 'a/#/b'], /--publish\[0\]: .*"a\/#\/b"/],
    [['token', '--sub', 'ada', '--rule', 'deny'], /--rule takes JSON/],
    [['token', '--sub', 'ada', '--rule', '{"effect": "deny"}'], /--rules\[0\]\.action has to be one of/],
    [['token', '--sub', 'ada', '--client-id', '%c'], /--client-id\[0\] has to be/],
  ])('%j is answered with a sentence and exit code 2', async (args, sentence) => {
    const { code, stderr } = await apus.run(args);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  });
});

describe('apus serve', () => {
  test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
    '%s ends it: clients are told 0x8B, exit code 0',
    async (signal) => {
      const node = await apus.serve();
      const { client } = await RawClient.connect(node.url);
      const { code } = await node.stop(signal);
      expect((await client.expect('disconnect')).reasonCode).toBe(0x8b);
      expect(code).toBe(0);
    },
  );

  test('SIGHUP makes it read its users file again, and does not end it', async () => {
    const hash = (await apus.run(['passwd'], 'secret\n')).stdout.trim();
    const contentOf = (name: string) =>
      JSON.stringify({ users: [{ name, password: hash, publish: [], subscribe: [] }] });
    const path = temporaryFile('users.json', contentOf('ada'));
    const node = await apus.serve(['--users', path]);
    const answer = async (username: string) =>
      (await RawClient.connect(node.url, { username, password: 'secret' })).connack.reasonCode;
    expect(await answer('ada')).toBe(0);
    writeFileSync(path, contentOf('bob'));
    node.process.kill('SIGHUP');
    await expect.poll(() => answer('ada')).toBe(0x86);
    expect(await answer('bob')).toBe(0);
    expect((await node.stop()).code).toBe(0);
  });

  test.each(['json', 'text'])('the log is %s where the flag says so', async (format) => {
    const node = await apus.serve(['--log', format]);
    const refused = await fetch(node.url.replace('ws:', 'http:').replace('/mqtt', '/elsewhere'));
    expect(refused.status).toBe(404);
    await expect(RawClient.open(node.url.replace('/mqtt', '/elsewhere'), 5)).rejects.toThrow();
    const { stderr } = await node.stop();
    const [line = ''] = stderr.split('\n').filter((each) => each.includes('handshake-refused'));
    if (format === 'json') expect(JSON.parse(line)).toMatchObject({ level: 'info', status: 404 });
    // No terminal shows the colours.
    else expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} handshake-refused address=127\.0\.0\.1:\d+ status=404/);
  });

  test('logs as lines of JSON where standard error is no terminal', async () => {
    const node = await apus.serve(['--log-level', 'info']);
    const { client } = await RawClient.connect(node.url);
    client.sendText('no MQTT');
    await client.expectClose();
    const { stderr } = await node.stop();
    const entries = stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    expect(entries).toContainEqual(
      expect.objectContaining({
        level: 'info',
        event: 'text-frame',
        time: expect.stringMatching(/^\d{4}-.*Z$/),
      }),
    );
  });

  test('takes its limits from its flags', async () => {
    const node = await apus.serve(['--receive-maximum', '7', '--maximum-packet-size', '1000']);
    const { connack } = await RawClient.connect(node.url);
    expect(connack.properties).toMatchObject({ receiveMaximum: 7, maximumPacketSize: 1000 });
  });

  test('keeps the streams of its file: `apus sub --rewind` begins in the past, `apus stream list` lists them', async () => {
    const streams = temporaryFile('streams.json', '{"streams": [{"name": "chat", "topicFilter": "chat/#"}]}');
    const node = await apus.serve(['--streams', streams]);
    for (const text of ['1', '2', '3'])
      await apus.run(['pub', '-u', node.url, '-t', 'chat/a', '-m', text, '-q', '1']);
    const sub = ['sub', '-u', node.url, '-c', '2', '--rewind', '2'];
    expect((await apus.run([...sub, '-t', 'chat/a'])).stdout).toBe('2\n3\n');
    const refused = await apus.run([...sub, '-t', 'elsewhere']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('was refused')]);
    const page = new URL(node.url.replace(/^ws/, 'http'));
    const listed = await apus.run(['stream', 'list', '--url', page.origin]);
    expect(listed.stdout).toMatch(/^chat {2}chat\/# {2}3 messages of 1 topics/);
    const messages = ['stream', 'messages', 'chat', '-t', 'chat/a', '--url', page.origin];
    const newest = await apus.run([...messages, '--reverse', '--limit', '2']);
    expect(newest.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^\S+Z {2}\S+-3 {2}chat\/a {2}3$/),
      expect.stringMatching(/-2 {2}chat\/a {2}2$/),
    ]);
    const [, next = ''] = /There are more: --since (\S+)/.exec(newest.stderr) ?? [];
    const rest = await apus.run([...messages, '--reverse', '--since', next, '--json']);
    expect(JSON.parse(rest.stdout)).toMatchObject({ topic: 'chat/a', payload: 'MQ==' });
    expect(rest.stderr).toBe('');
    const { position } = JSON.parse(rest.stdout) as { position: string };
    const behind = ['sub', '-u', node.url, '-c', '2', '-t', 'chat/a', '--stream-position', position];
    expect((await apus.run(behind)).stdout).toBe('2\n3\n');
    const all = ['sub', '-u', node.url, '-c', '3', '-t', 'chat/#', '--stream-offset', 'earliest'];
    expect((await apus.run(all)).stdout).toBe('1\n2\n3\n');
    const none = await apus.run(['stream', 'messages', 'nothing', '--url', page.origin]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/stream/)]);
  });

  test('says in a sentence that its port is in use, exit code 1', async () => {
    const node = await apus.serve();
    const { code, stderr } = await apus.run(['serve', '--no-gateway', '--port', new URL(node.url).port]);
    expect(stderr).toMatch(/Port \d+ at 127\.0\.0\.1 is in use/);
    expect(code).toBe(1);
  });

  test('does not open itself to other machines without an authentication option', async () => {
    const { code, stderr } = await apus.run(['serve', '--host', '0.0.0.0', '--port', '0']);
    expect(stderr).toMatch(/--users FILE.*--allow-anonymous/);
    expect(code).toBe(1);
  });

  test('with a users file asks for a password that `apus passwd` has hashed', async () => {
    const password = (await apus.run(['passwd'], 'sesame\n')).stdout.trim();
    const users = [{ name: 'ada', password, publish: ['%u/#'], subscribe: ['%u/#'] }];
    const node = await apus.serve(['--users', temporaryFile('users.json', JSON.stringify({ users }))]);
    const publish = ['pub', '-u', node.url, '-q', '1', '-m', 'x', '--username', 'ada'];
    const allowed = await apus.run([...publish, '-t', 'ada/1'], '', { APUS_PASSWORD: 'sesame' });
    expect(allowed).toMatchObject({ code: 0, stderr: '' });
    const forbidden = await apus.run([...publish, '-t', 'bob/1', '--password', 'sesame']);
    expect(forbidden).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/bob\/1 was not taken.*Not authorized/),
    });
    const stranger = await apus.run([...publish, '-t', 'ada/1', '--password', 'wrong']);
    expect(stranger).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Cannot connect.*user name or password/i),
    });
  });
});

describe('apus token', () => {
  const secret = '0123456789abcdef0123456789abcdef';

  test('makes a token that a deployment with the same secret takes, for what its filters say', async () => {
    const flags = [
      '--sub',
      'ada',
      '--publish',
      'a/#',
      '--subscribe',
      'b',
      '--subscribe',
      'c',
      '--expires',
      '5m',
    ];
    const { code, stdout } = await apus.run(['token', ...flags], `${secret}\n`);
    expect(code).toBe(0);
    const { rules, ...identity } = await verified(stdout.trim());
    expect(identity).toMatchObject({ tenant: 'default', name: 'ada' });
    expect(rules).toEqual(rulesOfLists(['a/#'], ['b', 'c']));
  });

  test('that has rules, client identifiers and a name of its own', async () => {
    const rule = { effect: 'deny', action: 'all', topicFilters: ['a/b'] } as const;
    const flags = ['--sub', 'ada', '--publish', '#', '--client-id', '%u-+', '--jti', 'one'];
    const { stdout } = await apus.run(['token', ...flags, '--rule', JSON.stringify(rule)], `${secret}\n`);
    expect(await verified(stdout.trim())).toMatchObject({
      rules: [rule, ...rulesOfLists(['#'], [])],
      clientIds: ['%u-+'],
      tokenId: 'one',
    });
  });

  test('signs with the first of a list of secrets, and names it', async () => {
    const list = JSON.stringify([
      { kid: '2', secret },
      { kid: '1', secret: secret.toUpperCase() },
    ]);
    const { stdout } = await apus.run(['token', '--sub', 'ada'], `${list}\n`);
    expect(await verified(stdout.trim())).toMatchObject({ name: 'ada', keyId: '2' });
  });

  async function verified(token: string): Promise<Identity> {
    const options = { source: 'jwt', tenant: 'default', clock: { now: () => Date.now() } };
    const keys = new FixedKeys([secretKey(Buffer.from(secret))]);
    const answer = await new JwtAuthenticator({ ...options, keys }).verify(token);
    if ('refused' in answer || 'notMine' in answer) throw new Error(JSON.stringify(answer));
    return answer;
  }

  test('takes no secret that is too short to be safe', async () => {
    const { code, stderr } = await apus.run(['token', '--sub', 'ada'], 'sesame\n');
    expect(code).toBe(1);
    expect(stderr).toMatch(/6 bytes; HS256 needs at least 32/);
  });
});

describe('apus serve --identity and apus identity check', () => {
  const secret = '0123456789abcdef0123456789abcdef';
  const file = (value: unknown) =>
    temporaryFile('identity.json', typeof value === 'string' ? value : JSON.stringify(value));

  test('a broker takes the tokens of its configuration', async () => {
    const path = file({ authenticators: [{ jwt: { secretFile: temporaryFile('secret', `${secret}\n`) } }] });
    const check = await apus.run(['identity', 'check', path]);
    expect(check).toMatchObject({ code: 0, stdout: `jwt: ready\n${path} is good.\n` });
    const node = await apus.serve(['--identity', path]);
    const { stdout: token } = await apus.run(['token', '--sub', 'ada'], secret);
    const { connack, client } = await RawClient.connect(`${node.url}?token=${token.trim()}`);
    expect(connack.reasonCode).toBe(0);
    client.close();
    await expect(RawClient.connect(`${node.url}?token=hello`)).rejects.toThrow('403');
    expect((await RawClient.connect(node.url)).connack.reasonCode).toBe(0x87);
  });

  test.each([
    ['{"authenticators": [{"jwt": {"secret": "', 'is not JSON. It should look like'],
    [{}, 'authenticators has to be a list of 1 to 10'],
    [{ authenticators: [{ ldap: {} }] }, 'authenticators[0] has to be one of {"jwt": {…}}'],
    [{ authenticators: [{ jwt: { secret, issuer: 7 } }] }, 'authenticators[0].jwt.issuer has to be a text'],
    [{ authenticators: [{ jwt: { secrt: secret } }] }, 'authenticators[0].jwt has no field "secrt"'],
    [{ authenticators: [{ users: { file: '/nowhere.json' } }] }, 'ENOENT'],
    [{ authenticators: [{ jwt: { secretFile: '/nowhere' } }] }, 'ENOENT'],
    [
      { authenticators: [{ jwt: { jwksUrl: 'http://127.0.0.1:1/', issuer: 'i', audience: 'a' } }] },
      'The key set at http://127.0.0.1:1/ cannot be read now',
    ],
    [{ authenticators: [{ jwt: { secret } }], cookie: 'a b' }, 'has to be the name of a cookie'],
  ])('%j is explained in a sentence', async (configuration, sentence) => {
    const { code, stdout, stderr } = await apus.run(['identity', 'check', file(configuration)]);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(sentence);
    expect(stdout + stderr).not.toContain(secret);
  });

  test('a cookie without a list of pages is refused at the start', async () => {
    const path = file({ authenticators: [{ jwt: { secret } }], cookie: 'session' });
    const { code, stderr } = await apus.run(['serve', '--port', '0', '--identity', path]);
    expect(code).toBe(1);
    expect(stderr).toContain('cross-site WebSocket hijacking');
    expect(stderr).toContain('--allow-origin');
  });
});

describe('apus pub and apus sub', () => {
  test('a message arrives, with its topic when asked for', async () => {
    const node = await apus.serve();
    const topics = ['-t', 'a/#', '-t', 'ready', '-q', '1'];
    const subscriber = apus.start(['sub', '-u', node.url, ...topics, '-v', '--count', '3']);
    const outcome = outcomeOf(subscriber);
    await publishOnceSubscribed(node.url, 'ready');
    await apus.run(['pub', '-u', node.url, '-t', 'a/1', '-q', '1', '--stdin-lines'], 'one\ntwo\n');
    expect(await outcome).toEqual({ code: 0, stdout: 'ready \na/1 one\na/1 two\n', stderr: '' });
  });

  test('every property goes there and back', async () => {
    const node = await apus.serve();
    const properties = ['--content-type', 'text/plain', '--response-topic', 'r', '--correlation-data', 'c'];
    const userProperties = ['--user-property', 'a=1', '--user-property', 'a=2', '--payload-utf8'];
    await apus.run([
      'pub',
      '-u',
      node.url,
      '-t',
      't',
      '-m',
      'x',
      '-r',
      '-q',
      '2',
      ...properties,
      ...userProperties,
    ]);
    const { stdout } = await apus.run(['sub', '-u', node.url, '-t', 't', '-q', '2', '--json', '-c', '1']);
    expect(JSON.parse(stdout)).toEqual({
      topic: 't',
      payload: 'x',
      qos: 2,
      retain: true,
      dup: false,
      properties: {
        payloadFormatIndicator: true,
        contentType: 'text/plain',
        responseTopic: 'r',
        correlationData: Buffer.from('c').toString('base64'),
        userProperties: { a: ['1', '2'] },
      },
    });
  });

  test('bytes that are no text arrive as they are', async () => {
    const node = await apus.serve();
    const file = temporaryFile('payload', Buffer.from('00ff80fe', 'hex'));
    await apus.run(['pub', '-u', node.url, '-t', 't', '-f', file, '-r', '--mqtt-version', '3.1.1']);
    const { stdout } = await apus.run([
      'sub',
      '-u',
      node.url,
      '-t',
      't',
      '--json',
      '-c',
      '1',
      '--mqtt-version',
      '3.1',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ topic: 't', payloadBase64: 'AP+A/g==' });
  });

  test('a kept session gets what was published meanwhile', async () => {
    const node = await apus.serve();
    const keep = ['sub', '-u', node.url, '-t', 't', '-q', '1', '--keep', '-i', 'keeper', '--count'];
    await apus.run([...keep, '0']);
    await apus.run(['pub', '-u', node.url, '-t', 't', '-q', '1', '-m', 'meanwhile']);
    expect((await apus.run([...keep, '1'])).stdout).toBe('meanwhile\n');
  });

  test.each([
    ['ws://127.0.0.1:1/mqtt', /ECONNREFUSED/],
    ['nowhere', /HTTP 404\. MQTT over WebSocket is at \/mqtt/],
  ])('a broker that cannot be reached at %s is told in a sentence, exit code 1', async (url, reason) => {
    const node = await apus.serve();
    const target = url === 'nowhere' ? new URL('/nowhere', node.url).href : url;
    const { code, stderr } = await apus.run(['pub', '-u', target, '-t', 'a', '-m', 'x']);
    expect(stderr).toMatch(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });
});

/** Publishes until the PUBACK says that there was a subscriber; only that message was delivered. */
async function publishOnceSubscribed(url: string, topic: string): Promise<void> {
  const { client } = await RawClient.connect(url);
  for (let reasonCode: unknown = 0x10; reasonCode === 0x10; ) {
    client.send({ cmd: 'publish', topic, payload: '', qos: 1, messageId: 1 });
    reasonCode = (await client.expect('puback')).reasonCode;
  }
}
