import { GatheredPosts } from '@apus/aws/testing';
import { Mover } from '@apus/client/testing';
import { vi } from 'vitest';
import type { End } from '../steps.ts';
import { bursts, inOrder, returns } from './directed-steps.ts';
import { ALL_INLINE, type Mutation, slowly, storesAs, UNBROKEN } from './mutation.ts';

/** Handlers are slow, so that a move happens between a publisher's match and its post. */
const moving = {
  steps: bursts({ topic: 'news', qos: 1, messages: 1, everyMs: 60, durationMs: 9_000 }),
  durationMs: 10_000,
  inlineSubscribersMax: ALL_INLINE,
  store: slowly(30),
  rates: UNBROKEN,
} as const;

const burst = (topic: 'news' | 'state') =>
  bursts({ topic, qos: 1, messages: 2, everyMs: 150, durationMs: 3_000 });

/** Subscribers are away, or seem to be, while frames post several messages to them. */
const away = (...hows: readonly End[]) =>
  ({
    steps: inOrder(burst('news'), burst('state'), burst('news'), returns(400, 3_000, hows)),
    durationMs: 4_000,
    inlineSubscribersMax: ALL_INLINE,
    rates: { ...UNBROKEN, 'no-disconnect': 0.5 },
  }) as const;

/** Sessions that move, and sessions that are resumed. */
export const OF_MOVES: readonly Mutation[] = [
  {
    name: 'a post does not follow a session that has moved',
    install: () => {
      vi.spyOn(GatheredPosts.prototype, 'follow').mockImplementation(() => {});
    },
    ...moving,
    finds: ['gap', 'lost', 'stuck', 'order', 'doubled'],
  },
  {
    name: 'nothing is kept for a client that is away, nor noted to be missing',
    alterations: {
      cloud: storesAs(({ links }) => {
        links.keep = async () => undefined;
      }),
    },
    ...away('closed-by-gateway'),
    finds: ['gap'],
  },
  {
    name: 'of a frame only the first post is kept for a client that is away',
    install: () => {
      vi.spyOn(GatheredPosts.prototype, 'goOn').mockImplementation(() => {});
    },
    ...away('closed-by-gateway'),
    finds: ['gap'],
  },
  {
    name: 'the client takes every loss for a close behind all messages',
    install: () => {
      const { resume } = Mover.prototype;
      vi.spyOn(Mover.prototype, 'resume').mockImplementation(function (this: Mover) {
        return resume.call(this, true);
      });
    },
    ...away('vanish'),
    finds: ['gap'],
  },
];
