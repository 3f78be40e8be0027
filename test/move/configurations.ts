import { cases } from '../support/runs.ts';
import type { Configuration } from './world.ts';

export interface NamedConfiguration {
  readonly name: string;
  readonly config: Configuration;
}

export const QUIET: Configuration = {
  publishers: ['', ''],
  moves: false,
  cutsLast: false,
  crashes: 0,
  losses: 0,
  lossKinds: ['close-frame', 'cut', 'half-open'],
  hasDisconnects: true,
  keptMax: 1,
  isImpatient: false,
  hasRival: false,
  hasTakeOver: false,
  hasWill: false,
  staysAway: false,
};

const named = (name: string, config: Partial<Configuration>): NamedConfiguration => {
  return { name, config: { ...QUIET, ...config } };
};

/** Together they take seconds, and those in CI as long again. */
export const SMALL: readonly NamedConfiguration[] = cases<NamedConfiguration>(
  [
    named('a move whose handler dies', { moves: true, publishers: ['01', ''], crashes: 1 }),
    named('a move while a worker posts', { moves: true, publishers: ['22', ''] }),
    named('a move that cuts last and whose handler dies', {
      ...{ moves: true, cutsLast: true, publishers: ['01', ''], crashes: 1 },
    }),
    named('a loss while a session moves that cuts last', {
      ...{ moves: true, cutsLast: true, publishers: ['0', ''], losses: 1, hasDisconnects: false },
    }),
    named('a take-over while a session moves that cuts last', {
      moves: true,
      cutsLast: true,
      hasTakeOver: true,
    }),
    named('a resume while a filter is published to', { publishers: ['00', ''], losses: 1 }),
    named('a resume whose handler dies', { publishers: ['0', ''], losses: 1, crashes: 1 }),
    named('a resume whose client does not wait', { publishers: ['', ''], losses: 1, isImpatient: true }),
    named('a resume of a connection that ended in order, with a full tombstone', {
      ...{ publishers: ['00', '0'], losses: 1, lossKinds: ['close-frame'], hasDisconnects: false },
    }),
    named('a resume while a worker posts', { publishers: ['22', ''], losses: 1, lossKinds: ['close-frame'] }),
    named('a loss while a session moves', {
      moves: true,
      publishers: ['0', ''],
      losses: 1,
      hasDisconnects: false,
    }),
    named('a rival with the same ticket', { moves: true, hasRival: true }),
    named('a take-over while a session moves', { moves: true, hasTakeOver: true }),
    named('a will, and a client that comes back', { losses: 1, hasWill: true }),
    named('a will, and a client that stays away', { losses: 1, hasWill: true, staysAway: true }),
  ],
  [
    named('a move that cuts last while narrow filters and a worker are published to', {
      ...{ moves: true, cutsLast: true, publishers: ['01', '02'] },
    }),
    named('a move while narrow filters are published to', { moves: true, publishers: ['01', '0'] }),
    named('a move whose handler dies while a worker posts', {
      moves: true,
      publishers: ['20', ''],
      crashes: 1,
    }),
    named('a loss while a session moves and a handler dies', {
      ...{
        moves: true,
        publishers: ['0', ''],
        losses: 1,
        crashes: 1,
        lossKinds: ['cut'],
        hasDisconnects: false,
      },
    }),
  ],
);

/** Each takes minutes: `APUS_MOVE_MODEL=large`. */
export const LARGE: readonly NamedConfiguration[] = [
  named('a move while two publishers go on and a handler dies', {
    moves: true,
    publishers: ['010', '01'],
    crashes: 1,
  }),
  named('a move while publishers and a worker go on', { moves: true, publishers: ['022', '20'], crashes: 1 }),
  named('a resume while a publisher and a worker go on', {
    ...{ publishers: ['02', '0'], losses: 1, lossKinds: ['close-frame'] },
  }),
  named('a resume whose client does not wait, beside publishers', {
    ...{ publishers: ['00', ''], losses: 1, isImpatient: true },
  }),
  named('a loss while a session of two filters moves', {
    moves: true,
    publishers: ['01', ''],
    losses: 1,
    lossKinds: ['cut'],
    hasDisconnects: false,
  }),
  named('two losses', { publishers: ['0', ''], losses: 2, hasDisconnects: false }),
  named('a loss while a session moves and a handler dies, beside a worker', {
    ...{
      moves: true,
      publishers: ['2', ''],
      losses: 1,
      crashes: 1,
      lossKinds: ['cut'],
      hasDisconnects: false,
    },
  }),
];
