import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { readIdentity } from '@apus/identity';
import mqtt from 'mqtt';
import { describe, expect, it, test } from 'vitest';
import { startDoors } from '../src/index.ts';
import { Built, type Outcome, outcomeOf } from './support/built.ts';
import { type Door, doorsForTest, urlOf } from './support/doors.ts';
import { runInThisProcess } from './support/in-this-process.ts';
import { publishOnceSubscribed } from './support/publish-once-subscribed.ts';

const apus = new Built();

/** The command line of a subscriber whose session is kept, and which has not seen these messages. */
async function keptWith(
  door: Door,
  payloads: readonly (string | Buffer)[],
  ...flags: string[]
): Promise<string[]> {
  const doors = await doorsForTest({ gatewayPort: 0 });
  const keep = ['sub', '-u', urlOf(door, doors), '-t', 't', '--keep', '-i', 'keeper', ...flags];
  expect(await runInThisProcess([...keep, '-c', '0'])).toEqual({ code: 0, stdout: '', stderr: '' });
  const publisher = await mqtt.connectAsync(doors.url, { protocolVersion: 5 });
  for (const payload of payloads) await publisher.publishAsync('t', payload, { qos: 2 });
  await publisher.endAsync();
  return keep;
}

describe('apus sub --keep', () => {
  test.each<[Door, qos: string, version: string]>([
    ['node', '1', '5'],
    ['node', '1', '3.1.1'],
    ['node', '2', '5'],
    ['node', '2', '3.1.1'],
    ['gateway', '2', '3.1.1'],
    ['gateway', '2', '5'],
  ])(
    'at the %s door at QoS %s in MQTT %s leaves to the next run what is beyond --count',
    async (door, ...of) => {
      const payloads = ['1', '2', '3', '4', '5', '6'];
      const [qos, version] = of;
      const keep = await keptWith(door, payloads, '-q', qos, '-V', version);
      for (const printed of ['1\n2\n', '3\n', '4\n5\n6\n']) {
        const count = String(printed.length / 2);
        expect(await runInThisProcess([...keep, '-c', count])).toEqual({
          code: 0,
          stdout: printed,
          stderr: '',
        });
      }
      const rest = await runInThisProcess([...keep, '-c', '1', '-W', '1']);
      expect(rest).toEqual({ code: 1, stdout: '', stderr: 'apus: 0 messages of 1 came within 1 s.\n' });
    },
  );

  it('at the gateway door at QoS 1 loses nothing that is beyond --count', async () => {
    const payloads = ['1', '2', '3', '4', '5', '6'];
    const keep = await keptWith('gateway', payloads, '-q', '1', '-V', '5');
    const printed: string[] = [];
    // A handler may see DISCONNECT before an acknowledgement (docs/text-frames.md, section 5): that message comes again.
    for (const count of ['2', '1', '3']) {
      const { code, stdout } = await runInThisProcess([...keep, '-c', count]);
      expect([code, stdout.split('\n').length - 1]).toEqual([0, Number(count)]);
      printed.push(...stdout.trim().split('\n'));
    }
    const rest = await runInThisProcess([...keep, '-c', '9', '-W', '1']);
    printed.push(...rest.stdout.trim().split('\n'));
    expect([...new Set(printed.filter((line) => line !== ''))]).toEqual(payloads);
  });

  /** More than a pipe takes. */
  const large = Array.from({ length: 40 }, () => randomBytes(10_000).toString('hex'));

  /** The lines that a subscriber prints until its reader has seen `end`, or it has ended. */
  async function linesUntil(end: string, child: ChildProcess): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout as Readable })) {
      if (line === end) break;
      lines.push(line);
    }
    child.kill('SIGKILL');
    return lines;
  }

  test.each<[Door, qos: string, NodeJS.Signals]>([
    ['node', '1', 'SIGKILL'],
    ['node', '2', 'SIGKILL'],
    ['gateway', '1', 'SIGKILL'],
    ['gateway', '2', 'SIGKILL'],
    ['node', '2', 'SIGINT'],
    ['gateway', '2', 'SIGTERM'],
  ])(
    'at the %s door at QoS %s loses nothing when %s ends it while its reader is slow',
    async (door, qos, signal) => {
      const keep = await keptWith(door, large, '-q', qos);
      const slow = apus.start(keep);
      // The reader has one buffer, the pipe is full, and a message is being written.
      await once(slow.stdout as Readable, 'readable');
      slow.kill(signal);
      const printed = await linesUntil('end', slow);
      // Of a killed process the pipe may have a part of a message.
      const whole = signal === 'SIGKILL' ? printed.filter((line) => large.includes(line)) : printed;
      await runInThisProcess(['pub', ...keep.slice(1, 5), '-m', 'end', '-q', '1']);
      const next = await linesUntil('end', apus.start(keep));
      const both = [...whole, ...next];
      // A killed process has had no time to acknowledge the last message that it has printed.
      expect(signal === 'SIGKILL' ? [...new Set(both)] : both).toEqual(large);
    },
  );

  test.each<Door>(['node', 'gateway'])(
    'at the %s door acknowledges nothing once its reader has gone',
    async (door) => {
      const doors = await doorsForTest({ gatewayPort: 0 });
      const keep = ['sub', '-u', urlOf(door, doors), '-t', 't', '--keep', '-i', 'keeper', '-q', '1'];
      const child = apus.start([...keep, '-t', 'ready']);
      await publishOnceSubscribed(doors.url, 'ready');
      await once(child.stdout as Readable, 'data');
      child.stdout?.destroy();
      const exit = once(child, 'exit');
      for (const payload of ['1', '2'])
        await runInThisProcess(['pub', '-u', doors.url, '-t', 't', '-m', payload, '-q', '1']);
      expect(await exit).toEqual([0, null]);
      const next = await linesUntil('2', apus.start(keep));
      // The message "ready" is empty, and may come again.
      expect(next.filter((line) => line !== '')).toEqual(['1']);
    },
  );

  test.skipIf(!existsSync('/dev/full'))('acknowledges nothing that a full disk refuses', async () => {
    const keep = await keptWith('node', ['1', '2'], '-q', '2');
    const full = openSync('/dev/full', 'w');
    const child = spawn('node', [join(apus.directory, 'apus.js'), ...keep], {
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    const [stderr, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
    expect(stderr).toMatch(/^apus: Standard output cannot be written: .*ENOSPC.*\n$/);
    expect(code).toBe(1);
    expect((await apus.run([...keep, '-c', '2'])).stdout).toBe('1\n2\n');
  });
});

describe('apus sub', () => {
  /** Resolves with a subscriber that is connected and subscribed. */
  async function subscriberAt(
    url: string,
    nodeUrl: string,
    ...flags: string[]
  ): Promise<() => Promise<Outcome>> {
    const child = apus.start(['sub', '-u', url, '-t', 'ready', '-q', '1', ...flags]);
    const ended = outcomeOf(child);
    await publishOnceSubscribed(nodeUrl, 'ready');
    return () => ended;
  }

  test.each<Door>(['node', 'gateway'])(
    'at the %s door ends when another client takes its session over',
    async (door) => {
      const doors = await doorsForTest({ gatewayPort: 0 });
      const url = urlOf(door, doors);
      const ended = await subscriberAt(url, doors.url, '-i', 'same');
      await runInThisProcess(['sub', '-u', url, '-i', 'same', '-t', 'other', '-c', '0']);
      expect(await ended()).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^apus: The connection has ended: Session taken over.*\.\n$/),
      });
    },
  );

  test.each<Door>(['node', 'gateway'])('at the %s door ends when an operator bans it', async (door) => {
    const doors = await doorsForTest({ gatewayPort: 0 });
    const ended = await subscriberAt(urlOf(door, doors), doors.url, '-i', 'eve');
    await runInThisProcess(['ban', '-i', 'eve', '-u', doors.httpUrl]);
    expect(await ended()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^apus: The connection has ended: Administrative action: this client has been banned\.\n$/,
      ),
    });
  });

  const IDENTITY = { authenticators: [{ jwt: { secret: 'a secret of at least thirty-two bytes' } }] };

  test('comes back to a broker that was restarted, and ends when that refuses it', async () => {
    const first = await startDoors({ port: 0, logLevel: 'silent' });
    const { url } = first;
    const port = Number(new URL(url).port);
    const ended = await subscriberAt(url, url);
    await first.stop();
    const second = await startDoors({ port, logLevel: 'silent' });
    await publishOnceSubscribed(url, 'ready');
    await second.stop();
    await doorsForTest({ port, identity: readIdentity(IDENTITY, 'identity') });
    const { code, stdout, stderr } = await ended();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '\n\n' });
    expect(stderr).toMatch(/^apus: the connection was lost: Server shutting down.*; trying again\.\n/);
    expect(stderr).toMatch(/apus: The connection has ended: Connection refused: Not authorized\.\n$/);
  });

  test('says why the broker refuses a subscription', async () => {
    const { url } = await doorsForTest({ topicLevelsMax: 2 });
    const { code, stderr } = await runInThisProcess(['sub', '-u', url, '-t', 'a/b/c']);
    expect(stderr).toMatch(/^apus: The subscription to a\/b\/c was refused: .*Topic Filter invalid\n$/);
    expect(code).toBe(1);
  });
});
