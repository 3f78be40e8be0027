import { Records } from '@apus/store-dynamodb/testing';
import { vi } from 'vitest';
import { bursts, inOrder, returns, volleys } from './directed-steps.ts';
import { ALL_INLINE, type Mutation, slowly, UNBROKEN, unconditionally, writtenAs } from './mutation.ts';

const DURATION_MS = 4_000;
const BURSTS = bursts({ topic: 'news', qos: 1, messages: 4, everyMs: 100, durationMs: DURATION_MS });
/** Frames that meet at windows that are just full, and time to return to direct delivery. */
const VOLLEYS = volleys({ messages: 5, everyMs: 600, durationMs: 6_000 });

/** Mutations of the messages that wait for a session or are in flight to it. */
export const OF_QUEUES: readonly Mutation[] = [
  {
    name: 'a publisher that has appended to a log does not object to the belief that it is empty',
    install: () => {
      vi.spyOn(Records.prototype, 'object').mockResolvedValue(true);
    },
    steps: inOrder(BURSTS, returns(400, DURATION_MS)),
    durationMs: DURATION_MS,
    inlineSubscribersMax: ALL_INLINE,
    rates: { 'store-slow': 0.15 },
    finds: ['lost', 'order', 'stuck'],
  },
  {
    name: 'a record is written whatever another has written meanwhile',
    alterations: unconditionally('Z', 'record'),
    finds: ['lost', 'limit', 'doubled', 'stuck', 'order'],
  },
  {
    name: 'no handler applies the acknowledgements that a record has noted',
    install: () => {
      const note = Records.prototype.note;
      vi.spyOn(Records.prototype, 'note').mockImplementation(async function (
        this: Records,
        session,
        connectionId,
        acknowledgement,
      ) {
        return await note.call(this, session, connectionId, { ...acknowledgement, packetId: 0 });
      });
    },
    // A PUBREC is dropped: its client has completed the message when it comes again.
    steps: bursts({ topic: 'news', qos: 2, messages: 2, everyMs: 150, durationMs: DURATION_MS }),
    durationMs: DURATION_MS,
    rates: { cut: 0.05 },
    inlineSubscribersMax: ALL_INLINE,
    finds: ['doubled'],
  },
  {
    name: 'publishers post to a session before the page that was drawn for it has arrived',
    install: () => writtenAs(() => ({ awaits: 0 })),
    steps: bursts({ topic: 'news', qos: 1, messages: 5, everyMs: 120, durationMs: 8_000 }),
    durationMs: 8_000,
    inlineSubscribersMax: ALL_INLINE,
    rates: { 'late-reply': 0.2, 'store-slow': 0.05 },
    finds: ['order'],
  },
  {
    name: 'publishers take more places than the window has',
    install: () => writtenAs(() => ({ receiveMaximum: 65_535 })),
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
          return { found: found.filter(({ kind }) => kind !== 'queue'), next };
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
