import { type Message, messageBytes } from '@apus/broker';
import { messageOf, numberedMessage } from '@apus/broker/samples';
import type { BacklogRoom, TenantFilter } from '@apus/node';
import { expect, test } from 'vitest';
import { heirFrames, messagesOf } from '../src/bus.ts';
import type { Frame, PublishFrame } from '../src/frames.ts';
import { FullRules } from '../src/full-rules.ts';
import { ENTRY_BYTES_MAX, FULL_RULES_LOOKED_MS } from '../src/limits.ts';
import { HandClock } from './support/hand-clock.ts';

const MESSAGE: Message = messageOf({ topic: 'up/a', qos: 1 });
const QUEUE: TenantFilter = { tenant: 't', topicFilter: 'up/#' };

function publishOf(fields: Partial<PublishFrame> = {}): PublishFrame {
  const plain = { type: 'publish', tenant: 't', isPlain: true, groups: [], hops: 0 } as const;
  return { ...plain, mayWait: true, isAgain: false, message: MESSAGE, ...fields };
}

/** A process with a rule, and the frames that it sends to others. */
function withRule() {
  const sent: [process: string, frame: Frame][] = [];
  const gaveUp: string[] = [];
  const bus = {
    send: (process: string, frame: Frame) => void sent.push([process, frame]),
    request: async (process: string, frame: Frame) => void sent.push([process, frame]),
  };
  const clock = new HandClock();
  const state: { room: BacklogRoom; full: readonly TenantFilter[]; lacking: TenantFilter } = {
    ...{ room: 'enough', full: [], lacking: QUEUE },
  };
  const backlog = {
    ...{ roomFor: () => state.room, full: () => state.full, lacking: () => state.lacking },
    ...{ portion: { messages: 1, bytes: 1 }, watch() {}, count() {}, queued() {} },
  };
  const giveUp = async (process: string) => void gaveUp.push(process);
  const rules = new FullRules({ backlog, bus, clock, giveUp, holdBack() {} });
  return { sent, gaveUp, state, rules, look: () => clock.move(FULL_RULES_LOOKED_MS) };
}

test('a process that publishes to a queue with little room is told once, and again when there is room', () => {
  const { sent, state, rules, look } = withRule();
  expect(rules.giveBack('b', publishOf())).toBe(undefined);
  expect(sent).toEqual([]);
  Object.assign(state, { room: 'little', full: [QUEUE] });
  expect(rules.giveBack('b', publishOf())).toBe(undefined);
  expect(rules.giveBack('b', publishOf())).toBe(undefined);
  look();
  expect(sent).toEqual([['b', { type: 'full', filters: [QUEUE] }]]);
  state.full = [];
  look();
  look();
  expect(sent.slice(1)).toEqual([['b', { type: 'full', filters: [] }]]);
});

test('a message without room is given back, and a will never is', async () => {
  const { sent, state, rules } = withRule();
  Object.assign(state, { room: 'none', full: [QUEUE] });
  expect(rules.giveBack('b', publishOf({ mayWait: false }))).toBe(undefined);
  expect(rules.giveBack('b', publishOf({ isPlain: false, groups: ['g/up/#'] }))).toBe(undefined);
  await rules.giveBack('b', publishOf());
  expect(sent.map(([, frame]) => frame)).toEqual([
    { type: 'full', filters: [QUEUE] },
    { type: 'later', messageId: MESSAGE.id, queue: QUEUE },
  ]);
});

test('a message that will never have room does not wait for it', async () => {
  const { sent, gaveUp, state, rules } = withRule();
  state.room = 'never';
  await rules.giveBack('b', publishOf());
  await rules.inherit('c', publishOf(), () => undefined);
  expect([gaveUp, sent]).toEqual([['b', 'c'], []]);
});

test('a will for a dead process is delivered whether or not there is room', () => {
  const { state, rules } = withRule();
  Object.assign(state, { room: 'none', full: [QUEUE] });
  let delivered = 0;
  rules.inherit('b', publishOf({ mayWait: false }), () => {
    delivered += 1;
    return undefined;
  });
  expect(delivered).toBe(1);
});

test('messages for the heir of a dead process are sent oldest first, in entries that the engine carries', () => {
  const payload = Buffer.alloc(ENTRY_BYTES_MAX / 3);
  const frames = [4, 1, 3, 2, 5].map((number) => ({
    frame: publishOf({ message: numberedMessage(number, { payload }) }),
  }));
  const portions = heirFrames('dead', messagesOf(frames));
  expect(portions.map(({ isLast }) => isLast)).toEqual([false, false, true]);
  expect(portions.flatMap(({ messages }) => messages.map(({ message }) => message.id))).toEqual(
    [1, 2, 3, 4, 5].map((number) => numberedMessage(number).id),
  );
  for (const { messages } of portions)
    expect(messages.reduce((sum, { message }) => sum + messageBytes(message), 0)).toBeLessThanOrEqual(
      ENTRY_BYTES_MAX,
    );
  expect(heirFrames('dead', [])).toEqual([{ type: 'heir', process: 'dead', messages: [], isLast: true }]);
});

test('a publisher that has its share waits in a line of its own, and others do not wait for it [SEC-POOL-5]', async () => {
  const { sent, state, rules } = withRule();
  const share = { ...QUEUE, holder: 'greedy' };
  const payer = (holder: string) => ({ holder, identityMs: 1, tenantMs: 1, paid: 0 });
  Object.assign(state, { room: 'none', lacking: share, full: [share] });
  await rules.giveBack('b', publishOf({ payer: payer('greedy') }));
  expect(sent.map(([, frame]) => frame)).toEqual([
    { type: 'full', filters: [share] },
    { type: 'later', messageId: MESSAGE.id, queue: share },
  ]);
  state.room = 'enough';
  expect(rules.giveBack('b', publishOf({ payer: payer('honest') }))).toBe(undefined);
  expect(sent).toHaveLength(2);
  // A newer one of the same publisher does not overtake.
  await rules.giveBack('b', publishOf({ payer: payer('greedy') }));
  expect(sent.slice(2)).toEqual([['b', { type: 'later', messageId: MESSAGE.id, queue: share }]]);
});
