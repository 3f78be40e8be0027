import { alteredWrites, isWriteOf, type WriteInput } from '../altered-dynamo.ts';
import {
  BRIEFS,
  bursts,
  CLOSED_MORTALS,
  DISCONNECTS_OF_DWELLERS,
  MORTALS,
  OUTLAWS,
} from './directed-steps.ts';
import {
  doneAtOnce,
  LATE,
  LOST_ANSWERS,
  type Mutation,
  storesAs,
  UNBROKEN,
  unconditionally,
} from './mutation.ts';

/** The one write of a session that ends with its connection (`SessionStore.end`). */
function isEndOfSession(input: WriteInput): boolean {
  const { UpdateExpression: update, ExpressionAttributeValues: values } = input;
  return isWriteOf(input, 'S', 'session') && update === undefined && values?.[':connection'] !== undefined;
}

/** Whose session it is, and what becomes of it. */
export const OF_SESSIONS: readonly Mutation[] = [
  {
    name: 'take-over is not conditional on whose session it is',
    alterations: unconditionally('S', 'session'),
    rates: LOST_ANSWERS,
    finds: ['lost', 'doubled', 'order', 'session', 'stuck', 'will'],
  },
  {
    name: 'a session is opened without asking whose it is',
    alterations: {
      dynamo: alteredWrites((input) =>
        isWriteOf(input, 'S', 'session')
          ? input.ConditionExpression?.replaceAll('y = :owner', 'attribute_exists(p)')
          : input.ConditionExpression,
      ),
    },
    finds: ['stolen'],
  },
  {
    name: 'a connection is sent messages after its identity has expired',
    alterations: {
      cloud: storesAs(({ sessions }) => {
        const open = sessions.open.bind(sessions);
        sessions.open = async ({ attachment: { expiresAtMs: _, ...attachment }, ...request }) =>
          await open({ ...request, attachment });
      }),
    },
    steps: BRIEFS,
    durationMs: 24_000,
    rates: UNBROKEN,
    finds: ['expired'],
  },
  {
    name: 'a delivery does not ask whether its client is banned',
    alterations: {
      cloud: ({ stores }) => void Object.defineProperty(stores.bans, 'keepsOut', { get: () => undefined }),
    },
    steps: OUTLAWS,
    durationMs: 52_000,
    rates: UNBROKEN,
    finds: ['banned'],
  },
  {
    name: 'a frame does not read the list of bans',
    alterations: {
      cloud: ({ stores: { bans } }) => {
        Object.defineProperty(bans, 'wanted', { get: () => [] });
        bans.refresh = async () => {};
      },
    },
    steps: OUTLAWS,
    durationMs: 52_000,
    rates: UNBROKEN,
    finds: ['leaked', 'banned'],
  },
  {
    name: 'the end of a connection leaves no tombstone',
    alterations: {
      cloud: storesAs(({ links }) => {
        links.end = async (connectionId) => {
          const state = await links.load(connectionId);
          return state?.phase === 'closed' ? undefined : state;
        };
      }),
    },
    // A frame that is handled this late meets a session that has continued.
    steps: bursts({ topic: 'news', qos: 2, messages: 2, everyMs: 200, durationMs: 6_000 }),
    lateInvocationMsMax: 20_000,
    rates: { ...LATE, 'late-invocation': 0.4, cut: 0.05 },
    finds: ['lost', 'doubled', 'order', 'session', 'stuck', 'will'],
  },
  {
    name: 'every incarnation of a session has the same name',
    alterations: {
      dynamo: (client) => {
        const send = async (command: { input: object }, ...others: unknown[]) => {
          const { ExpressionAttributeValues: values } = command.input as {
            ExpressionAttributeValues?: Record<string, unknown>;
          };
          if (values?.[':incarnation'] !== undefined && values[':nonce'] !== undefined)
            values[':incarnation'] = { S: 'one' };
          return await (client.send as (...all: unknown[]) => Promise<unknown>)(command, ...others);
        };
        return { send: send as typeof client.send };
      },
    },
    finds: ['leaked', 'session', 'lost', 'doubled', 'order'],
  },
  {
    name: 'a session that is in a room ends with its connection',
    alterations: {
      dynamo: alteredWrites((input) =>
        isEndOfSession(input)
          ? input.ConditionExpression?.replace(' AND attribute_not_exists(rm)', '')
          : input.ConditionExpression,
      ),
    },
    hasRoom: true,
    steps: DISCONNECTS_OF_DWELLERS,
    finds: ['ghost'],
  },
  {
    name: 'the code of a close says DISCONNECT for a client with a will',
    alterations: {
      cloud: storesAs(({ links }) => {
        const end = links.end.bind(links);
        links.end = async (connectionId) => {
          const state = await end(connectionId);
          if (state?.phase !== 'connected') return state;
          const mortal = { endsByClose: true, expirySeconds: 0, willDelaySeconds: undefined };
          return { ...state, connection: { ...state.connection, ...mortal } };
        };
      }),
    },
    steps: CLOSED_MORTALS,
    // Each close is reported: otherwise the altered check would be made in other ways too.
    rates: { ...UNBROKEN, 'no-disconnect': 0, 'late-disconnect': 0 },
    finds: ['will'],
  },
  {
    name: 'a will counts as published before it has left',
    install: doneAtOnce,
    steps: MORTALS,
    durationMs: 12_000,
    rates: { 'kill-at-checkpoint': 0.03, 'kill-before-post': 0.2, 'kill-after-post': 0.05 },
    finds: ['will'],
  },
];
