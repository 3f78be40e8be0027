import { cases } from '../support/runs.ts';
import type { Configuration, Mutation } from './world.ts';

interface Named {
  readonly name: string;
  readonly config: Configuration;
}

/** Without faults. */
export const QUIET: Configuration = {
  reader: 'exact',
  publishers: 2,
  messages: 1,
  isWide: false,
  crashes: 0,
  cuts: 0,
  failures: 0,
  truncations: 0,
  asks: 0,
};

const BARE = { ...QUIET, reader: 'bare' } as const;

/** Each is explored within seconds. */
export const SMALL: readonly Named[] = cases<Named>(
  [
    { name: 'an exact reader, handlers that die', config: { ...QUIET, crashes: 1, asks: 1 } },
    { name: 'an exact reader, a handler that dies, a cut', config: { ...QUIET, crashes: 1, cuts: 1 } },
    {
      name: 'an exact reader, a publisher with two messages',
      config: { ...QUIET, publishers: 1, messages: 2, crashes: 1, cuts: 2 },
    },
    { name: 'an exact reader, a post that fails', config: { ...QUIET, failures: 1, cuts: 1 } },
    { name: 'an exact reader, messages that are forgotten', config: { ...QUIET, truncations: 1, cuts: 1 } },
    { name: 'an exact reader behind workers', config: { ...QUIET, isWide: true, crashes: 1, cuts: 1 } },
    { name: 'a bare reader, a post that fails', config: { ...BARE, failures: 1, cuts: 1 } },
  ],
  [
    { name: 'an exact reader, whose connection ends twice', config: { ...QUIET, cuts: 2 } },
    { name: 'a bare reader, a handler that dies, two cuts', config: { ...BARE, crashes: 1, cuts: 2 } },
    { name: 'a bare reader, messages that are forgotten', config: { ...BARE, truncations: 1, cuts: 1 } },
    { name: 'a bare reader behind workers', config: { ...BARE, isWide: true, crashes: 1, cuts: 2 } },
  ],
);

/** These take minutes. */
export const LARGE: readonly Named[] = [
  { name: 'an exact reader of four messages', config: { ...QUIET, messages: 2, crashes: 1, cuts: 1 } },
  { name: 'a bare reader of four messages', config: { ...BARE, messages: 2, crashes: 1, cuts: 2 } },
  { name: 'three publishers', config: { ...QUIET, publishers: 3, crashes: 1, cuts: 1 } },
];

export interface NamedMutation extends Named {
  readonly mutation: Mutation;
  readonly finds: RegExp;
}

const LOST = /is lost/;

export const MUTATIONS: readonly NamedMutation[] = [
  {
    name: 'subscribers are looked up before the message has its place',
    mutation: 'matches-before-place',
    finds: LOST,
    config: QUIET,
  },
  {
    name: 'a place is taken whether it is free or not',
    mutation: 'place-without-condition',
    finds: /has no place/,
    config: QUIET,
  },
  {
    name: 'the end of the log is read before the subscription is stored',
    mutation: 'reads-before-subscription',
    finds: LOST,
    config: QUIET,
  },
  {
    name: 'a message counts as stable while its handler lives, for an exact reader',
    mutation: 'stable-while-its-handler-lives',
    finds: LOST,
    config: QUIET,
  },
  {
    name: 'a message counts as stable while its handler lives, for a bare reader',
    mutation: 'stable-while-its-handler-lives',
    finds: LOST,
    config: { ...BARE, cuts: 1 },
  },
  {
    name: 'a bare reader is sent what stands behind the number alone',
    mutation: 'position-without-floor',
    finds: LOST,
    config: { ...BARE, cuts: 1 },
  },
  {
    name: 'SUBACK says true where messages are handed out no more',
    mutation: 'true-over-a-hole',
    finds: LOST,
    config: { ...QUIET, cuts: 1, truncations: 1 },
  },
  {
    name: 'the connection stays open when a post has failed',
    mutation: 'failed-post-forgotten',
    finds: LOST,
    config: { ...QUIET, failures: 1 },
  },
  {
    name: 'an exact reader puts nothing in order',
    mutation: 'no-order',
    finds: /came behind/,
    config: QUIET,
  },
  {
    name: 'pushes are handed over while a SUBSCRIBE is not answered',
    mutation: 'pushes-before-suback',
    finds: /came behind/,
    config: { ...QUIET, crashes: 1, asks: 1 },
  },
  {
    name: 'a post comes when its handler has been over for long',
    mutation: 'posts-without-end',
    finds: LOST,
    config: { ...QUIET, publishers: 1, messages: 2 },
  },
];
