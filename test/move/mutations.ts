import type { Configuration, Mutation } from './world.ts';

/** A removed protection, and the configuration in which the exploration finds that it is missing. */
export interface NamedMutation {
  readonly name: string;
  readonly mutation: Mutation;
  readonly finds: RegExp;
  readonly config: Partial<Configuration>;
}

const LOST = /is lost/;
const ORDER = /came after/;
const MOVE = { moves: true, publishers: ['01', ''] } as const;
const DISCONNECTED = { moves: true, losses: 1, lossKinds: ['cut'], hasWill: true, staysAway: true } as const;
const LOSS = { publishers: ['00', ''], losses: 1, lossKinds: ['close-frame'] } as const;

export const MUTATIONS: readonly NamedMutation[] = [
  {
    name: 'a post that finds its connection gone is dropped',
    mutation: 'no-follow',
    finds: LOST,
    config: MOVE,
  },
  {
    name: 'the client hands over at once what the new connection brings',
    ...{ mutation: 'no-hold', finds: ORDER, config: MOVE },
  },
  {
    name: 'the client closes the old connection itself',
    ...{ mutation: 'client-closes-old', finds: LOST, config: MOVE },
  },
  {
    name: 'a client that cuts last hands over at once what the new connection brings',
    ...{ mutation: 'no-hold', finds: ORDER, config: { ...MOVE, cutsLast: true, publishers: ['00', ''] } },
  },
  {
    name: 'the entries are written before the old connection ends',
    ...{ mutation: 'entries-before-end', finds: ORDER, config: MOVE },
  },
  {
    name: 'pushes are handed over before the reply to a resume',
    ...{ mutation: 'pushes-before-reply', finds: ORDER, config: LOSS },
  },
  {
    name: 'a message is kept where the session has gone on',
    mutation: 'open-buffer',
    finds: LOST,
    config: LOSS,
  },
  {
    name: 'entries are written whatever they carry',
    ...{ mutation: 'blind-entries', finds: /left behind/, config: { moves: true, hasTakeOver: true } },
  },
  {
    name: 'a connection that has ended takes the state',
    ...{ mutation: 'adopt-after-end', finds: /will/, config: DISCONNECTED },
  },
  {
    name: 'the move does not look whether its connection has ended',
    ...{ mutation: 'no-look-at-end', finds: /will/, config: DISCONNECTED },
  },
  { name: 'the reply does not say that messages are missing', mutation: 'no-gap', finds: LOST, config: LOSS },
  {
    name: 'a worker drops a message where the session has gone on meanwhile',
    ...{ mutation: 'worker-drops', finds: LOST, config: { ...LOSS, publishers: ['2', ''] } },
  },
  {
    name: 'a resume does not ask for the will',
    ...{ mutation: 'will-not-asked', finds: /will/, config: { losses: 1, hasWill: true } },
  },
  {
    name: 'a ticket that has been used is good for another move',
    ...{
      mutation: 'move-twice',
      finds: LOST,
      config: { moves: true, publishers: ['0', ''], hasRival: true },
    },
  },
  {
    name: 'the client stays on a connection that has closed when its move is refused',
    ...{
      mutation: 'stay-where-refused',
      finds: LOST,
      config: { ...LOSS, moves: true, publishers: ['0', ''], hasDisconnects: false },
    },
  },
  {
    name: 'entries of the last connection only go with a resume',
    ...{
      mutation: 'last-link-only',
      finds: /entries carry/,
      config: { moves: true, losses: 1, crashes: 1, lossKinds: ['cut'], hasDisconnects: false },
    },
  },
];
