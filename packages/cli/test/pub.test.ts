import mqtt from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Built, outcomeOf } from './support/built.ts';
import { type Door, doorsForTest, urlOf } from './support/doors.ts';
import { runInThisProcess } from './support/in-this-process.ts';
import { temporaryFile } from './support/temporary-file.ts';

const apus = new Built();

/** The payloads that come to the topic `t`, until one of them is "end". */
async function payloadsAt(url: string): Promise<() => Promise<Buffer[]>> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5 });
  onTestFinished(() => client.endAsync(true));
  const payloads: Buffer[] = [];
  const all = new Promise<Buffer[]>((resolve) => {
    client.on('message', (_topic, payload) => {
      if (payload.toString() === 'end') resolve(payloads);
      else payloads.push(payload);
    });
  });
  await client.subscribeAsync('t', { qos: 2 });
  return () => all;
}

describe('apus pub', () => {
  const SIZE_MAX = 4_000;
  const TOO_LARGE = {
    told: /^apus: The message to t was not sent: its packet has 4001 bytes, and the broker takes 4000\.\n$/,
    closed: /^apus: The connection has ended: .*\(in MQTT 5 the broker would say why\)\.\n$/,
  };

  test.each<[Door, qos: number, version: string, sentence: RegExp]>([
    ['node', 0, '5', TOO_LARGE.told],
    ['node', 1, '5', TOO_LARGE.told],
    ['node', 2, '5', TOO_LARGE.told],
    ['node', 0, '3.1.1', TOO_LARGE.closed],
    ['node', 1, '3.1.1', TOO_LARGE.closed],
    ['gateway', 0, '5', TOO_LARGE.told],
    ['gateway', 2, '5', TOO_LARGE.told],
    ['gateway', 0, '3.1.1', TOO_LARGE.closed],
    ['gateway', 1, '3.1.1', TOO_LARGE.closed],
  ])(
    'at the %s door at QoS %i in MQTT %s sends the largest packet, and fails with a larger one',
    async (door, qos, version, sentence) => {
      const doors = await doorsForTest({ gatewayPort: 0, maximumPacketSize: SIZE_MAX });
      const payloads = await payloadsAt(doors.url);
      // The fixed header, the topic, a packet identifier, and in MQTT 5 an empty property section.
      const overhead = 3 + 3 + (qos > 0 ? 2 : 0) + (version === '5' ? 1 : 0);
      const pub = ['pub', '-u', urlOf(door, doors), '-t', 't', '-q', String(qos), '-V', version];
      const publish = (payload: Buffer) =>
        runInThisProcess([...pub, '-f', temporaryFile('payload', payload)]);
      const largest = Buffer.alloc(SIZE_MAX - overhead, 0xff);
      expect(await publish(largest)).toEqual({ code: 0, stdout: '', stderr: '' });
      const { code, stderr } = await publish(Buffer.alloc(largest.length + 1));
      expect(stderr).toMatch(sentence);
      expect(code).toBe(1);
      await runInThisProcess([...pub, '-m', 'end']);
      expect(await payloads()).toEqual([largest]);
    },
  );

  test.each(['0', '1'])(
    'at the gateway door at QoS %s fails in MQTT 3.1.1 with a packet that fits into no frame',
    async (qos) => {
      const doors = await doorsForTest({ gatewayPort: 0 });
      const file = temporaryFile('payload', Buffer.alloc(30_000));
      const pub = ['pub', '-u', urlOf('gateway', doors), '-t', 't', '-f', file];
      const { code, stderr } = await runInThisProcess([...pub, '-q', qos, '-V', '3.1.1']);
      expect(stderr).toMatch(/Not sent: a packet of 3\d{4} bytes; at most 24573\.\n$/);
      expect(code).toBe(1);
    },
  );

  test('says why the broker does not take a message', async () => {
    const { url } = await doorsForTest({ retainedMessagesMax: 1 });
    const pub = ['pub', '-u', url, '-q', '1', '-m', 'x', '-t'];
    expect(await runInThisProcess([...pub, '$presence'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^apus: The message to \$presence was not taken: .*Topic Name invalid: .*ROOM\/MEMBER/,
      ),
    });
    expect(await runInThisProcess([...pub, 'a', '-r'])).toMatchObject({ code: 0 });
    expect(await runInThisProcess([...pub, 'b', '-r'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^apus: The message to b was not taken: .*Quota exceeded/),
    });
  });

  test('says which property or line no packet holds', async () => {
    const { url } = await doorsForTest();
    const long = 'x'.repeat(65_536);
    expect(
      await runInThisProcess(['pub', '-u', url, '-t', 't', '-m', 'x', '--content-type', long]),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^apus: The message to t was not sent: A string has at most 65535 bytes/),
    });
  });
});

describe('apus pub --stdin-lines', () => {
  const LINES = ['plain', '\xff\xfe', 'a\rb', '', '\u2028', 'nul\0', 'no line end'];

  test.each<Door>(['node', 'gateway'])('at the %s door publishes the bytes of each line', async (door) => {
    const doors = await doorsForTest({ gatewayPort: 0 });
    const payloads = await payloadsAt(doors.url);
    const lines = LINES.map((line, index) => Buffer.from(line, index === 1 ? 'latin1' : 'utf8'));
    const child = apus.start(['pub', '-u', urlOf(door, doors), '-t', 't', '-q', '1', '-l']);
    const ended = outcomeOf(child);
    // In pieces that begin and end within lines.
    const input = Buffer.concat(
      lines.flatMap((line, index) => [line, Buffer.from(index === 0 ? '\r\n' : '\n')]),
    ).subarray(0, -1);
    for (let at = 0; at < input.length; at += 4) child.stdin?.write(input.subarray(at, at + 4));
    child.stdin?.end();
    expect(await ended).toEqual({ code: 0, stdout: '', stderr: '' });
    await runInThisProcess(['pub', '-u', doors.url, '-t', 't', '-q', '1', '-m', 'end']);
    expect(await payloads()).toEqual(lines);
  });

  test('keeps to the Receive Maximum of the broker', async () => {
    const { url } = await doorsForTest({ receiveMaximum: 3 });
    const lines = Array.from({ length: 300 }, (_, index) => `${index}`).join('\n');
    const { code, stderr } = await apus.run(['pub', '-u', url, '-t', 't', '-q', '2', '-l'], lines);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test.each<Door>(['node', 'gateway'])(
    'at the %s door ends at a refused line, while the next one does not come',
    async (door) => {
      const doors = await doorsForTest({ gatewayPort: 0 });
      const child = apus.start(['pub', '-u', urlOf(door, doors), '-t', '$presence', '-q', '1', '-l']);
      const ended = outcomeOf(child);
      child.stdin?.write('one\n');
      expect(await ended).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^apus: The message to \$presence was not taken: .*\n$/),
      });
    },
  );

  test('ends when the broker ends the connection, while the next line does not come', async () => {
    const { url, httpUrl } = await doorsForTest();
    const child = apus.start(['pub', '-u', url, '-t', 't', '-i', 'slow', '-q', '0', '-l']);
    const ended = outcomeOf(child);
    const payloads = await payloadsAt(url);
    child.stdin?.write('end\n');
    await payloads();
    expect(await runInThisProcess(['kick', 'slow', '-u', httpUrl])).toMatchObject({ code: 0 });
    expect(await ended).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^apus: The connection has ended: Administrative action.*\.\n$/),
    });
  });
});
