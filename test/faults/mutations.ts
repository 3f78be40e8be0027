import { DEFAULT_RATES, type Rates } from './fault-plan.ts';
import type { Mutation } from './mutations/mutation.ts';
import { OF_CONFLATION } from './mutations/of-conflation.ts';
import { OF_EXACTLY_ONCE } from './mutations/of-exactly-once.ts';
import { OF_FAN_OUT } from './mutations/of-fan-out.ts';
import { OF_MATCHING } from './mutations/of-matching.ts';
import { OF_MOVES } from './mutations/of-moves.ts';
import { OF_OUTSIDE } from './mutations/of-outside.ts';
import { OF_QUEUES } from './mutations/of-queues.ts';
import { OF_ROOMS } from './mutations/of-rooms.ts';
import { OF_SESSIONS } from './mutations/of-sessions.ts';
import { OF_STREAMS } from './mutations/of-streams.ts';
import { OF_TRANSPORT } from './mutations/of-transport.ts';

export type { Mutation };

export const MUTATIONS: readonly Mutation[] = [
  ...OF_SESSIONS,
  ...OF_MATCHING,
  ...OF_FAN_OUT,
  ...OF_TRANSPORT,
  ...OF_MOVES,
  ...OF_QUEUES,
  ...OF_EXACTLY_ONCE,
  ...OF_STREAMS,
  ...OF_CONFLATION,
  ...OF_ROOMS,
  ...OF_OUTSIDE,
];

export const ratesOf = ({ rates }: Mutation): Rates => ({ ...DEFAULT_RATES, ...rates });
