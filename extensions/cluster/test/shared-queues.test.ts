import { MemoryBudget } from '@apus/store-memory';
import { expect, test } from 'vitest';
import { Holdings } from '../../../packages/store-memory/src/holdings.ts';
import type { Frame } from '../src/frames.ts';
import { MEMBERS_LOOKED_MS, QUEUES_TOLD_MS } from '../src/limits.ts';
import { SharedQueues } from '../src/shared-queues.ts';

const SILENT = { info() {}, warn() {}, error() {}, debug() {}, writesDebug: false };
const PLANNED = { tenant: 't', plan: { queuedBytesMax: 6_400 } };
const ADA = { tenant: 't', name: 'ada', quotas: { queuedBytesMax: 6_400 } };

const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Member {
  readonly memory: MemoryBudget;
  readonly queues: SharedQueues;
}

/** Processes that hear each other at once, and a clock that moves by `pass` alone. */
function cluster() {
  const members = new Map<string, Member>();
  const sent: { readonly to: string; readonly frame: Frame }[] = [];
  let timers: { readonly atMs: number; readonly call: () => void }[] = [];
  let nowMs = 0;
  const clock = {
    now: () => nowMs,
    after(ms: number, call: () => void) {
      const timer = { atMs: nowMs + ms, call };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
  };

  function start(me: string, memory: MemoryBudget): Member {
    const bus = {
      peers: [],
      send(to: string, frame: Frame) {
        sent.push({ to, frame });
        if (frame.type === 'queues') members.get(to)?.queues.told(me, frame.queues);
      },
    };
    const membership = { me, all: async () => [...members.keys()] };
    return {
      memory,
      queues: new SharedQueues({ memory, bus, membership, clock: clock as never, log: SILENT }),
    };
  }

  return {
    sent,
    async join(me: string, memory = new MemoryBudget()) {
      const member = start(me, memory);
      members.set(me, member);
      await member.queues.start();
      return member;
    },
    async pass(ms: number) {
      const endMs = nowMs + ms;
      await turn();
      for (;;) {
        const next = timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers = timers.filter((each) => each !== next);
        nowMs = next.atMs;
        next.call();
        await turn();
        await turn();
      }
      nowMs = endMs;
    },
  };
}

test('a tenant has the bytes of its plan once, however many processes have its queues', async () => {
  const { join, pass } = cluster();
  const [a, b, c] = [await join('a'), await join('b'), await join('c')];
  await pass(MEMBERS_LOOKED_MS);
  for (const { memory } of [a, b, c]) memory.planned(PLANNED);
  a.memory.changeQueued('t', 3_200);
  b.memory.changeQueued('t', 3_100);
  await pass(QUEUES_TOLD_MS);
  expect([a, b, c].map(({ memory }) => memory.isQueueFull('t'))).toEqual([false, false, false]);
  b.memory.changeQueued('t', 100);
  await pass(QUEUES_TOLD_MS);
  expect([a, b, c].map(({ memory }) => memory.isQueueFull('t'))).toEqual([true, true, true]);
  expect(c.memory.isQueueFull('other')).toBe(false);
  a.memory.changeQueued('t', -3_200);
  await pass(QUEUES_TOLD_MS);
  expect([a, b, c].map(({ memory }) => memory.isQueueFull('t'))).toEqual([false, false, false]);
});

test('an identity has its bytes once as well, and gets those of a dead process back', async () => {
  const { join, pass } = cluster();
  const [a, b] = [await join('a'), await join('b')];
  await pass(MEMBERS_LOOKED_MS);
  const [here, there] = [new Holdings().of(ADA, 'x'), new Holdings().of(ADA, 'y')];
  there.changeQueued(6_000);
  b.memory.lookAtQueues(there);
  await pass(QUEUES_TOLD_MS);
  expect(a.memory.fits(here, 400, 6_400)).toBe(true);
  expect(a.memory.fits(here, 401, 6_400)).toBe(false);
  a.queues.forget('b');
  expect(a.memory.fits(here, 6_400, 6_400)).toBe(true);
});

test('the memory of a process is no quota of its tenants: only where it is full do others take no more', async () => {
  const { join, pass } = cluster();
  const [a, b] = [
    await join('a', new MemoryBudget(undefined, 1_000)),
    await join('b', new MemoryBudget(undefined, 1_000)),
  ];
  await pass(MEMBERS_LOOKED_MS);
  a.memory.changeQueued('t', 999);
  b.memory.changeQueued('t', 999);
  await pass(QUEUES_TOLD_MS);
  expect([a, b].map(({ memory }) => memory.isQueueFull('t'))).toEqual([false, false]);
  a.memory.changeQueued('t', 1);
  await pass(QUEUES_TOLD_MS);
  expect([a, b].map(({ memory }) => memory.isQueueFull('t'))).toEqual([true, true]);
});

test('queues that come and go each turn are told twenty times a second, and the last state in the end', async () => {
  const { join, pass, sent } = cluster();
  const [a, b] = [await join('a'), await join('b')];
  await pass(MEMBERS_LOOKED_MS);
  a.memory.planned(PLANNED);
  b.memory.planned(PLANNED);
  sent.length = 0;
  for (let ms = 0; ms < 1_000; ms += 5) {
    a.memory.changeQueued('t', 6_400);
    await pass(3);
    a.memory.changeQueued('t', -6_400);
    await pass(2);
  }
  expect(sent.length).toBeGreaterThan(5);
  expect(sent.length).toBeLessThanOrEqual((2 * 1_000) / QUEUES_TOLD_MS + 2);
  a.memory.changeQueued('t', 6_400);
  await pass(QUEUES_TOLD_MS);
  expect(b.memory.isQueueFull('t')).toBe(true);
  sent.length = 0;
  await pass(10_000);
  expect(sent).toEqual([]);
});

test('that queues are full is told at once, also right behind something else', async () => {
  const { join, pass } = cluster();
  const [a, b] = [await join('a'), await join('b')];
  await pass(MEMBERS_LOOKED_MS);
  a.memory.planned(PLANNED);
  b.memory.planned(PLANNED);
  a.memory.changeQueued('t', 3_000);
  await turn();
  a.memory.changeQueued('t', 3_400);
  await turn();
  expect(b.memory.isQueueFull('t')).toBe(true);
});

test('most messages are told to no process, and one that joins is told all', async () => {
  const { join, pass, sent } = cluster();
  const a = await join('a');
  await join('b');
  await pass(MEMBERS_LOOKED_MS);
  a.memory.planned({ tenant: 't', plan: { queuedBytesMax: 6_400_000 } });
  for (let count = 0; count < 1_000; count += 1) {
    a.memory.changeQueued('t', 99);
    await turn();
  }
  expect(sent).toEqual([]);
  for (let count = 0; count < 64; count += 1) a.memory.changeQueued('t', 100_000);
  await pass(QUEUES_TOLD_MS);
  expect(sent).toHaveLength(1);
  const c = await join('c');
  c.memory.planned({ tenant: 't', plan: { queuedBytesMax: 6_400_000 } });
  await pass(MEMBERS_LOOKED_MS + QUEUES_TOLD_MS);
  expect(c.memory.isQueueFull('t')).toBe(true);
});
