import type { Message } from '@apus/broker';
import { messageOf } from '@apus/broker/samples';
import type { BacklogRoom, TenantFilter } from '@apus/node';
import { expect, test } from 'vitest';
import { ClusterFanOut } from '../src/fan-out.ts';
import type { Frame, PublishFrame } from '../src/frames.ts';
import { FullRules } from '../src/full-rules.ts';
import { RemoteRoutes } from '../src/remote-routes.ts';
import { routeOf } from '../src/route-name.ts';
import { ShareChoice } from '../src/share-choice.ts';
import { EVERYWHERE } from '../src/subscriptions.ts';

const MESSAGE: Message = messageOf({ topic: 'up/a', qos: 1 });
const EVERYONE = [{ tenant: 't', topicFilter: EVERYWHERE, shards: 1 }];
const FULL: readonly TenantFilter[] = [{ tenant: 't', topicFilter: 'up/#' }];

const turn = () => new Promise((resolve) => setImmediate(resolve));

function publishOf(fields: Partial<PublishFrame> = {}): PublishFrame {
  const plain = { type: 'publish', tenant: 't', isPlain: true, groups: [], hops: 0, mayWait: true } as const;
  return { ...plain, message: MESSAGE, ...fields };
}

/** A process with a rule, and the frames that it sends to others. */
function withRule() {
  const sent: [process: string, frame: Frame][] = [];
  let ring = () => {};
  const bus = {
    send: (process: string, frame: Frame) => void sent.push([process, frame]),
    request: async (process: string, frame: Frame) => void sent.push([process, frame]),
  };
  const clock = {
    now: () => 0,
    after(_ms: number, call: () => void) {
      ring = call;
      return () => {};
    },
  };
  const state: { room: BacklogRoom; full: readonly TenantFilter[] } = { room: 'enough', full: [] };
  const backlog = { roomFor: () => state.room, full: () => state.full };
  const rules = new FullRules(backlog, bus, clock as never);
  return { sent, state, rules, look: () => ring() };
}

test('a process that publishes to a queue with little room is told once, and again when there is room', () => {
  const { sent, state, rules, look } = withRule();
  expect(rules.giveBack('b', publishOf())).toBe(undefined);
  expect(sent).toEqual([]);
  Object.assign(state, { room: 'little', full: FULL });
  expect(rules.giveBack('b', publishOf())).toBe(undefined);
  expect(rules.giveBack('b', publishOf())).toBe(undefined);
  look();
  expect(sent).toEqual([['b', { type: 'full', filters: FULL }]]);
  state.full = [];
  look();
  look();
  expect(sent.slice(1)).toEqual([['b', { type: 'full', filters: [] }]]);
});

test('a message without room is given back, and a will never is', async () => {
  const { sent, state, rules } = withRule();
  Object.assign(state, { room: 'none', full: FULL });
  expect(rules.giveBack('b', publishOf({ mayWait: false }))).toBe(undefined);
  expect(rules.giveBack('b', publishOf({ isPlain: false, groups: ['g/up/#'] }))).toBe(undefined);
  await rules.giveBack('b', publishOf());
  expect(sent.map(([, frame]) => frame)).toEqual([
    { type: 'full', filters: FULL },
    { type: 'later', messageId: MESSAGE.id },
  ]);
});

test('the process of a message that is too large for the room that there is hears of it again', async () => {
  const { sent, state, rules, look } = withRule();
  Object.assign(state, { room: 'none', full: [] });
  await rules.giveBack('b', publishOf());
  look();
  expect(sent.map(([, { type }]) => type)).toEqual(['full', 'later', 'full']);
});

/** A process that publishes, and its frames; each is acknowledged at once. */
function publisher(...processes: readonly string[]) {
  const sent: string[] = [];
  const routes = new RemoteRoutes();
  const subscribe = (process: string) =>
    routes.change(process, [[routeOf('t', { topicFilter: 'up/#', shareGroup: undefined }), true]], []);
  for (const process of processes) subscribe(process);
  const bus = { isFull: () => false, request: async (process: string) => void sent.push(process) };
  return { sent, routes, subscribe, fanOut: new ClusterFanOut(bus as never, routes, new ShareChoice()) };
}

test('a publisher waits for room, and its message is sent to that process alone again', async () => {
  const { sent, fanOut } = publisher('a', 'b');
  fanOut.accept(MESSAGE, EVERYONE, true);
  fanOut.gaveBack('a', MESSAGE.id);
  let isSettled = false;
  const settled = Promise.resolve(fanOut.settled(MESSAGE)).then(() => {
    isSettled = true;
  });
  await turn();
  expect([isSettled, sent]).toEqual([false, ['a', 'b']]);
  fanOut.mayHaveRoom('b');
  await turn();
  expect(isSettled).toBe(false);
  fanOut.mayHaveRoom('a');
  await settled;
  expect(sent).toEqual(['a', 'b', 'a']);
});

test('where the process dies meanwhile, its heir gets the message, and the publisher waits for that', async () => {
  const { sent, fanOut } = publisher('a');
  fanOut.accept(MESSAGE, EVERYONE, true);
  fanOut.gaveBack('a', MESSAGE.id);
  let isSettled = false;
  const settled = Promise.resolve(fanOut.settled(MESSAGE)).then(() => {
    isSettled = true;
  });
  const inherited = fanOut.forget('a', new Set());
  expect(inherited.map(({ frame }) => frame.message)).toEqual([MESSAGE]);
  await turn();
  expect(isSettled).toBe(false);
  inherited[0]?.resolve();
  await settled;
  expect([sent, fanOut.forget('a', new Set())]).toEqual([['a'], []]);
});

test('a message that the heir gets as unacknowledged is not inherited twice', async () => {
  const { fanOut } = publisher('a');
  fanOut.accept(MESSAGE, EVERYONE, true);
  fanOut.gaveBack('a', MESSAGE.id);
  expect(fanOut.forget('a', new Set([MESSAGE.id]))).toEqual([]);
  await fanOut.settled(MESSAGE);
});

test('a message of a dead process waits for room at its heir', async () => {
  const { state, rules, look } = withRule();
  expect(rules.whenRoom(publishOf())).toBe(undefined);
  Object.assign(state, { room: 'none', full: FULL });
  expect(rules.whenRoom(publishOf({ mayWait: false }))).toBe(undefined);
  let hasRung = false;
  const waits = rules.whenRoom(publishOf())?.then(() => {
    hasRung = true;
  });
  await turn();
  expect(hasRung).toBe(false);
  look();
  await waits;
  expect(hasRung).toBe(true);
});
