import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { Built } from './support/built.ts';
import { runInThisProcess } from './support/in-this-process.ts';
import { temporaryFile } from './support/temporary-file.ts';

const apus = new Built();

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

  test('reads its users file again on SIGHUP, and does not end', async () => {
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

  test.each(['json', 'text'])('writes the log as %s if the flag says so', async (format) => {
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

  test('logs lines of JSON if standard error is no terminal', async () => {
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
      await runInThisProcess(['pub', '-u', node.url, '-t', 'chat/a', '-m', text, '-q', '1']);
    const sub = ['sub', '-u', node.url, '-c', '2', '--rewind', '2'];
    expect((await apus.run([...sub, '-t', 'chat/a'])).stdout).toBe('2\n3\n');
    const refused = await apus.run([...sub, '-t', 'elsewhere']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('was refused')]);
    const page = new URL(node.url.replace(/^ws/, 'http'));
    const listed = await runInThisProcess(['stream', 'list', '--url', page.origin]);
    expect(listed.stdout).toMatch(/^chat {2}chat\/# {2}3 messages of 1 topics/);
    const messages = ['stream', 'messages', 'chat', '-t', 'chat/a', '--url', page.origin];
    const newest = await runInThisProcess([...messages, '--reverse', '--limit', '2']);
    expect(newest.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^\S+Z {2}\S+-3 {2}chat\/a {2}3$/),
      expect.stringMatching(/-2 {2}chat\/a {2}2$/),
    ]);
    const [, next = ''] = /There are more: --since (\S+)/.exec(newest.stderr) ?? [];
    const rest = await runInThisProcess([...messages, '--reverse', '--since', next, '--json']);
    expect(JSON.parse(rest.stdout)).toMatchObject({ topic: 'chat/a', payload: 'MQ==' });
    expect(rest.stderr).toBe('');
    const { position } = JSON.parse(rest.stdout) as { position: string };
    const behind = ['sub', '-u', node.url, '-c', '2', '-t', 'chat/a', '--stream-position', position];
    expect((await apus.run(behind)).stdout).toBe('2\n3\n');
    const all = ['sub', '-u', node.url, '-c', '3', '-t', 'chat/#', '--stream-offset', 'earliest'];
    expect((await apus.run(all)).stdout).toBe('1\n2\n3\n');
    const none = await runInThisProcess(['stream', 'messages', 'nothing', '--url', page.origin]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/stream/)]);
  });

  test('reports in a sentence that its port is in use, exit code 1', async () => {
    const node = await apus.serve();
    const { code, stderr } = await apus.run(['serve', '--no-gateway', '--port', new URL(node.url).port]);
    expect(stderr).toMatch(/Port \d+ at 127\.0\.0\.1 is in use/);
    expect(code).toBe(1);
  });

  test('does not listen for other machines without an authentication option', async () => {
    const { code, stderr } = await apus.run(['serve', '--host', '0.0.0.0', '--port', '0']);
    expect(stderr).toMatch(/--users FILE.*--allow-anonymous/);
    expect(code).toBe(1);
  });

  test('asks with a users file for a password that `apus passwd` has hashed', async () => {
    const password = (await apus.run(['passwd'], 'sesame\n')).stdout.trim();
    const users = [{ name: 'ada', password, publish: ['%u/#'], subscribe: ['%u/#'] }];
    const node = await apus.serve(['--users', temporaryFile('users.json', JSON.stringify({ users }))]);
    const publish = ['pub', '-u', node.url, '-q', '1', '-m', 'x', '--username', 'ada'];
    const allowed = await apus.run([...publish, '-t', 'ada/1'], '', { APUS_PASSWORD: 'sesame' });
    expect(allowed).toMatchObject({ code: 0, stderr: '' });
    const forbidden = await runInThisProcess([...publish, '-t', 'bob/1', '--password', 'sesame']);
    expect(forbidden).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/bob\/1 was not taken.*Not authorized/),
    });
    const stranger = await runInThisProcess([...publish, '-t', 'ada/1', '--password', 'wrong']);
    expect(stranger).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Cannot connect.*user name or password/i),
    });
  });
});
