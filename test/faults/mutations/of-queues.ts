import { vi } from 'vitest';
import { FrameCache } from '../../../packages/store-dynamodb/src/frame-cache.ts';
import { QueueViews } from '../../../packages/store-dynamodb/src/queue-view.ts';
import { Recount } from '../../../packages/store-dynamodb/src/recount.ts';
import { Window } from '../../../packages/store-dynamodb/src/window.ts';
import { bursts, inOrder, returns, volleys } from './directed-steps.ts';
import { ALL_INLINE, type Mutation, slowly, UNBROKEN, unconditionally } from './mutation.ts';

const DURATION_MS = 4_000;
const BURSTS = bursts({ topic: 'news', qos: 1, messages: 4, everyMs: 100, durationMs: DURATION_MS });
/** Frames that meet at windows which are just full, and time to become live again. */
const VOLLEYS = volleys({ messages: 5, everyMs: 600, durationMs: 6_000 });

/** What waits for a session, and what is on its way to it. */
export const OF_QUEUES: readonly Mutation[] = [
  {
    name: 'whoever appends to a queue does not look again',
    install: () => {
      const read = QueueViews.prototype.read;
      vi.spyOn(QueueViews.prototype, 'read').mockImplementation(async function (this: QueueViews, sessions) {
        const isSecondLook =
          sessions.length > 0 && sessions.every((each) => 'standing' in each && each.standing);
        return isSecondLook ? await this.of(sessions) : await read.call(this, sessions);
      });
    },
    steps: inOrder(BURSTS, returns(400, DURATION_MS)),
    durationMs: DURATION_MS,
    inlineSubscribersMax: ALL_INLINE,
    rates: { 'store-slow': 0.15 },
    finds: ['lost', 'order', 'doubled'],
  },
  {
    name: 'a packet identifier is drawn though it is in use',
    alterations: unconditionally('I', 'sent'),
    finds: ['lost', 'limit', 'doubled', 'stuck', 'order'],
  },
  {
    name: 'a queue is live before what a frame has drawn is acknowledged',
    install: () => {
      vi.spyOn(FrameCache.prototype, 'noteDrawn').mockReturnValue(undefined);
      vi.spyOn(Window.prototype, 'isAwaited', 'get').mockReturnValue(false);
    },
    steps: bursts({ topic: 'news', qos: 1, messages: 5, everyMs: 120, durationMs: 8_000 }),
    durationMs: 8_000,
    inlineSubscribersMax: ALL_INLINE,
    rates: { 'late-reply': 0.2, 'store-slow': 0.05 },
    finds: ['order'],
  },
  {
    name: 'a message joins a queue before those in front of it have left',
    alterations: { stores: { beforeWaiting: async () => {} } },
    steps: VOLLEYS,
    inlineSubscribersMax: ALL_INLINE,
    store: slowly(8),
    finds: ['order'],
  },
  {
    name: 'a publisher does not count the window again that a drain fills',
    install: () => {
      vi.spyOn(Recount.prototype, 'fits').mockResolvedValue(true);
    },
    steps: inOrder(VOLLEYS, volleys({ messages: 4, everyMs: 600, durationMs: 6_000, qos: 2 })),
    inlineSubscribersMax: ALL_INLINE,
    store: slowly(8),
    finds: ['limit'],
  },
  {
    name: 'the sweep does not look for queues that have stopped',
    alterations: {
      cloud: ({ stores: { sweepScan } }) => {
        const page = sweepScan.page.bind(sweepScan);
        sweepScan.page = async (...call) => {
          const { found, next } = await page(...call);
          const moving = found.map((swept) =>
            swept.kind === 'session' ? { ...swept, drainingSinceMs: undefined } : swept,
          );
          return { found: moving, next };
        };
      },
    },
    steps: bursts({ topic: 'news', qos: 1, messages: 5, everyMs: 1_000, durationMs: 25_000 }),
    durationMs: 25_000,
    inlineSubscribersMax: ALL_INLINE,
    rates: { ...UNBROKEN, 'kill-before-post': 0.3 },
    finds: ['lost'],
  },
];
