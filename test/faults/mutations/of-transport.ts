import { Outbound, OutgoingQueue, SessionFacts } from '@apus/client/testing';
import { vi } from 'vitest';
import { DISCONNECTS_OF_MORTALS, losses, NEWCOMERS } from './directed-steps.ts';
import { ALL_INLINE, type Mutation } from './mutation.ts';

/** Mutations of the frames that the client's transport holds back. */
export const OF_TRANSPORT: readonly Mutation[] = [
  {
    name: 'pushes are not held behind SUBACK',
    install: () => {
      vi.spyOn(Outbound.prototype, 'isOutstanding').mockReturnValue(false);
    },
    steps: NEWCOMERS,
    durationMs: 13_000,
    inlineSubscribersMax: ALL_INLINE,
    rates: { 'late-reply': 0.5 },
    finds: ['order'],
  },
  {
    name: 'a client with a will says DISCONNECT in the close',
    install: () => {
      vi.spyOn(SessionFacts.prototype, 'mayEndByClose', 'get').mockReturnValue(true);
    },
    steps: DISCONNECTS_OF_MORTALS,
    finds: ['will'],
  },
  {
    name: 'publishing goes on at once after a frame of unknown fate',
    install: () => {
      const takeFrame = OutgoingQueue.prototype.takeFrame;
      vi.spyOn(OutgoingQueue.prototype, 'takeFrame').mockImplementation(function (this: OutgoingQueue) {
        return takeFrame.call(this, false);
      });
    },
    steps: losses(150, 6_000),
    rates: { 'store-slow': 0.04 },
    finds: ['order', 'doubled', 'lost', 'stale', 'retained'],
  },
];
