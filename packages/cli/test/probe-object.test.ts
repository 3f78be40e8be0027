import { describe, expect, it } from 'vitest';
import { UsageError } from '../src/commands/flags.ts';
import type { Finding, ProbeContext } from '../src/probe/item.ts';
import { OBJECT_ITEMS } from '../src/probe/object-items.ts';
import { doorsForTest } from './support/doors.ts';
import { type ObjectFaults, startFakeObject } from './support/fake-object.ts';
import { triedOf, useProbe } from './support/probing.ts';

const tried = (name: string, url: string, more: Partial<ProbeContext> = {}) =>
  triedOf(OBJECT_ITEMS, name, url, { holdSeconds: 120, ...more });

/** Cuts all sockets when the probe has slept for this long. */
async function cutAfter(seconds: number): Promise<Finding> {
  const { url, cut } = await startFakeObject();
  let sleptMs = 0;
  const slept = async (ms: number) => {
    sleptMs += ms;
    if (sleptMs >= seconds * 1_000) cut();
    // The close reaches the probe in the meantime.
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  return await tried('idle-cut', url, { sleep: slept });
}

describe('on a server that speaks MQTT as an object does', () => {
  it.each([
    ['puback-burst', 'passed', '1000 PUBACKs of 20 sockets were taken'],
    ['write-time', 'passed', 'PUBACK of a write comes after'],
    ['idle-cut', 'differs', 'it was still open after 11 minutes'],
    ['idle-bill', 'not tried', 'for 120 s, with 20 PINGREQs: compare'],
  ])('%s says what it has seen', async (name, verdict, seen) => {
    const node = await doorsForTest();
    expect(await tried(name, node.url)).toEqual({ verdict, seen: expect.stringContaining(seen) });
  });
});

describe('a deviation is reported', () => {
  it.each<[string, ObjectFaults, string]>([
    ['puback-burst', { pubacksMax: 999 }, '1 of 20 sockets were cut, or answered no more.'],
    ['write-time', { writeMs: 150 }, 'PUBACK of a write comes after 1'],
  ])('%s with %j', async (name, faults, seen) => {
    const { url } = await startFakeObject(faults);
    expect(await tried(name, url)).toEqual({ verdict: 'differs', seen: expect.stringContaining(seen) });
  });

  it('a connection that is cut tells after how long', async () => {
    expect(await cutAfter(100)).toEqual({
      verdict: 'passed',
      seen: 'it was cut after some 100 s, with 1006.',
    });
    expect(await cutAfter(60)).toEqual({
      verdict: 'differs',
      seen: 'it was cut after some 60 s, with 1006. Keep Alive has to be shorter.',
    });
  });

  it('an idle hub whose sockets are cut', async () => {
    const { url, cut } = await startFakeObject();
    const slept = async () => {
      cut();
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    expect(await tried('idle-bill', url, { sleep: slept })).toEqual({
      verdict: 'differs',
      seen: '10 of 10 connections were cut within 120 s.',
    });
  });

  it('an item that cannot be tried gives the reason', async () => {
    const { url } = await startFakeObject({ refusesSubscriptions: true });
    expect(await tried('puback-burst', url)).toEqual({
      verdict: 'not tried',
      seen: 'The token has to allow subscribing to apus-probe/#.',
    });
  });
});

describe('apus probe --door object', () => {
  const { lines, run } = useProbe();

  it('prints what it costs, and a line for each item', async () => {
    const { url } = await startFakeObject();
    expect(await run(url, '--door', 'object')).toBe(0);
    expect(lines).toEqual([
      'This sends about 1,173 messages, at most $0.0000176 in all at Cloudflare.',
      expect.stringMatching(/^passed {5}puback-burst {2}1000 PUBACKs/),
      expect.stringMatching(/^passed {5}write-time {4}PUBACK of a write/),
      'not tried  idle-cut      it takes minutes and about 2 messages: --only idle-cut.',
      'not tried  idle-bill     it takes minutes and about 50 messages: --only idle-bill.',
    ]);
  });

  it('refuses the items of the other door, and doors that it does not know', async () => {
    await expect(run('ws://a.example', '--door', 'object', '--only', 'cut')).rejects.toThrow(UsageError);
    await expect(run('ws://a.example', '--door', 'node')).rejects.toThrow('--door is gateway or object');
  });

  it('gives the reason why it cannot connect', async () => {
    await expect(run('ws://127.0.0.1:1/mqtt', '--door', 'object')).rejects.toThrow('ECONNREFUSED');
  });
});
