import { describe, expect, test } from 'vitest';
import { Built, outcomeOf } from './support/built.ts';
import { runInThisProcess } from './support/in-this-process.ts';
import { publishOnceSubscribed } from './support/publish-once-subscribed.ts';
import { temporaryFile } from './support/temporary-file.ts';

const apus = new Built();

describe('apus pub and apus sub', () => {
  test('deliver a message, with its topic on request', async () => {
    const node = await apus.serve();
    const topics = ['-t', 'a/#', '-t', 'ready', '-q', '1'];
    const subscriber = apus.start(['sub', '-u', node.url, ...topics, '-v', '--count', '3']);
    const outcome = outcomeOf(subscriber);
    await publishOnceSubscribed(node.url, 'ready');
    await apus.run(['pub', '-u', node.url, '-t', 'a/1', '-q', '1', '--stdin-lines'], 'one\ntwo\n');
    expect(await outcome).toEqual({ code: 0, stdout: 'ready \na/1 one\na/1 two\n', stderr: '' });
  });

  test('carry every property both ways', async () => {
    const node = await apus.serve();
    const properties = ['--content-type', 'text/plain', '--response-topic', 'r', '--correlation-data', 'c'];
    const userProperties = [...['a=1', 'a=2', 'constructor=3', '__proto__=4']].flatMap((pair) => [
      '--user-property',
      pair,
    ]);
    const publish = ['pub', '-u', node.url, '-t', 't', '-m', 'x', '-r', '-q', '2'];
    await runInThisProcess([...publish, ...properties, ...userProperties, '--payload-utf8']);
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
        userProperties: JSON.parse('{"a": ["1", "2"], "constructor": "3", "__proto__": "4"}'),
      },
    });
  });

  test('deliver bytes that are no text unchanged', async () => {
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

  test('deliver to a persistent session the messages that were published meanwhile', async () => {
    const node = await apus.serve();
    const keep = ['sub', '-u', node.url, '-t', 't', '-q', '1', '--keep', '-i', 'keeper', '--count'];
    await apus.run([...keep, '0']);
    await runInThisProcess(['pub', '-u', node.url, '-t', 't', '-q', '1', '-m', 'meanwhile']);
    expect((await apus.run([...keep, '1'])).stdout).toBe('meanwhile\n');
  });

  test.each([
    ['ws://127.0.0.1:1/mqtt', /ECONNREFUSED/],
    ['nowhere', /HTTP 404\. MQTT over WebSocket is at \/mqtt/],
  ])('a broker that cannot be reached at %s is told in a sentence, exit code 1', async (url, reason) => {
    const node = await apus.serve();
    const target = url === 'nowhere' ? new URL('/nowhere', node.url).href : url;
    const { code, stderr } = await runInThisProcess(['pub', '-u', target, '-t', 'a', '-m', 'x']);
    expect(stderr).toMatch(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });
});
