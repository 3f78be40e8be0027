import { describe, expect, it, vi } from 'vitest';
import { CommandError } from '../src/commands/command.ts';
import { UsageError } from '../src/commands/flags.ts';
import { startDoors } from '../src/index.ts';
import type { ProbeContext } from '../src/probe/item.ts';
import { PROBE_ITEMS } from '../src/probe/items.ts';
import { doorsForTest } from './support/doors.ts';
import { type Faults, startFakeDeployment } from './support/fake-deployment.ts';
import { triedOf, useProbe } from './support/probing.ts';

// The probe waits several seconds for an event that does not come.
vi.setConfig({ testTimeout: 120_000 });

const tried = (name: string, url: string, more: Partial<ProbeContext> = {}) =>
  triedOf(PROBE_ITEMS, name, url, more);

describe('on the gateway door of this machine', () => {
  it.each([
    ['post-order', 'posts came in their order'],
    ['empty-reply', 'none of 20 was sent'],
    ['overlap', 'none of 10 clients'],
    ['cut', '360 of 360 posts beside 20 cuts came in their order'],
    ['close-code', 'a close with 4001 has ended the session at once'],
    ['alive', 'none of 20 signs of life was answered'],
    ['alive-idle', 'was still open after 11 minutes'],
    ['redeployment', '5 connections stayed open for 60 s'],
  ])('%s passes', async (name, seen) => {
    const node = await doorsForTest({ gatewayPort: 0 });
    const finding = await tried(name, node.gateway?.url ?? '');
    expect(finding).toEqual({ verdict: 'passed', seen: expect.stringContaining(seen) });
  });

  it('large-posts passes with messages published over HTTP', async () => {
    const node = await doorsForTest({ gatewayPort: 0 });
    const publish = { url: node.httpUrl, key: undefined };
    expect(await tried('large-posts', node.gateway?.url ?? '', { publish })).toEqual({
      verdict: 'passed',
      seen: 'posts of 33 KB, 64 KB, 128 KB came as one message each.',
    });
  });
});

it('a reply is complete when its parts have come, before or after its frame', async () => {
  expect(await tried('post-order', await startFakeDeployment({ repliesInParts: true }))).toEqual({
    verdict: 'passed',
    seen: '200 of 200 posts came in their order.',
  });
});

describe('a deviation is reported', () => {
  it.each<[string, Faults, string]>([
    ['post-order', { swapsPosts: true }, '100 of 200 posts came behind one that was sent after them.'],
    ['post-order', { losesPosts: true }, '100 of 200 posts have not arrived.'],
    ['cut', { postsAtCut: 'lost' }, 'of 360 posts beside 20 cuts have not arrived: set --cut-after-ms.'],
    ['cut', { postsAtCut: 'late' }, 'of 360 posts beside 20 cuts came behind one that was sent after them.'],
    ['empty-reply', { sendsEmptyReplies: true }, '20 of 20 came as empty messages'],
    ['close-code', {}, 'a session that was closed with 4001 still waits for its client'],
    ['alive', { answersSignsOfLife: '' }, '20 of 20 were answered'],
    ['alive', { answersSignsOfLife: '{"message": "Forbidden"}' }, '({"message": "Forbidden"})'],
    ['alive-idle', { cutsAtSignOfLife: true }, 'with 1001 Going away: set --without-extensions alive'],
    ['overlap', { overlaps: true }, '10 of 10 clients that had said DISCONNECT left a will.'],
    [
      'redeployment',
      { cutsAtPing: true },
      '5 of 5 connections were cut: after 0 s with 1012 Service restart',
    ],
    ['idle-ping', {}, 'was still open after 11 minutes'],
  ])('%s with %j', async (name, faults, seen) => {
    const finding = await tried(name, await startFakeDeployment(faults));
    expect(finding).toEqual({ verdict: 'differs', seen: expect.stringContaining(seen) });
  });

  it('idle-ping passes if the connection is cut', async () => {
    expect(await tried('idle-ping', await startFakeDeployment({ cutsAtPing: true }))).toEqual({
      verdict: 'passed',
      seen: expect.stringContaining('with 1001 Going away'),
    });
  });

  it('an item that cannot be tried gives the reason', async () => {
    const url = await startFakeDeployment({ refusesSubscriptions: true });
    expect(await tried('large-posts', url)).toMatchObject({ verdict: 'not tried' });
    expect(await tried('post-order', url)).toEqual({
      verdict: 'not tried',
      seen: 'The token has to allow subscribing to apus-probe/#.',
    });
  });
});

describe('apus probe', () => {
  const { lines, run } = useProbe();

  it('first prints its cost, then a line for each item, and exits with 0 if nothing differs', async () => {
    const node = await startDoors({ port: 0, gatewayPort: 0 });
    const url = node.gateway?.url ?? '';
    expect(await run(url, '--only', 'post-order', '--only', 'empty-reply')).toBe(0);
    await node.stop();
    expect(lines).toEqual([
      'This sends about 628 messages, at most $0.00126 in all on AWS.',
      expect.stringMatching(/^passed {5}post-order {4}200 of 200/),
      expect.stringMatching(/^passed {5}empty-reply {3}none of 20/),
    ]);
  });

  it('exits with 1 if something differs', async () => {
    const url = await startFakeDeployment({ sendsEmptyReplies: true });
    expect(await run(url, '--only', 'empty-reply')).toBe(1);
  });

  it('sends nothing in a dry run', async () => {
    expect(await run('wss://nowhere.invalid/mqtt', '--dry-run')).toBe(0);
    expect(lines).toHaveLength(1);
  });

  it.each([
    [[], 'takes one URL'],
    [['wss://a.example', 'more'], 'takes one URL'],
    [['https://a.example'], 'begins with wss://'],
    [['wss://a.example', '--only', 'order'], '--only is one of post-order'],
    [['wss://a.example', '--publish-url', 'x'], '--publish-url takes a URL'],
    [['wss://a.example', '--hold-seconds', '7201'], '--hold-seconds'],
  ])('refuses %j', async (args, sentence) => {
    await expect(run(...args)).rejects.toThrow(UsageError);
    await expect(run(...args)).rejects.toThrow(sentence);
  });

  it('gives the reason why it cannot connect', async () => {
    await expect(run('ws://127.0.0.1:1/mqtt')).rejects.toThrow(CommandError);
    await expect(run('ws://127.0.0.1:1/mqtt')).rejects.toThrow('ECONNREFUSED');
    const node = await doorsForTest();
    await expect(run(node.url)).rejects.toThrow(/refuses the handshake: HTTP 400/);
  });
});
