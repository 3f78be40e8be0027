import type { Model, Successor } from '../support/explore.ts';
import { clientSteps } from './client.ts';
import { handlerSteps, otherSteps, takeOverSteps } from './handlers.ts';
import { publisherSteps, workerSteps } from './posters.ts';
import {
  type Configuration,
  copyOf,
  type Mutation,
  messageOf,
  NONE,
  newState,
  type State,
  textOf,
} from './world.ts';

/**
 * A session that ends with its connection, its publishers, a worker and its client, while it moves and while it is
 * resumed: the behaviour of docs/text-frames.md (sections 12 and 13) and of packages/aws, one read or write a step.
 */
export class MovingSession implements Model<State> {
  readonly #config: Configuration;
  readonly #mutation: Mutation | undefined;

  constructor(config: Configuration, mutation?: Mutation) {
    this.#config = config;
    this.#mutation = mutation;
  }

  start(): State {
    return newState(this.#config);
  }

  textOf: (state: State) => string = textOf;

  successors(state: State): readonly Successor<State>[] {
    const found: Successor<State>[] = [];
    const without = (mutation: Mutation): boolean => mutation === this.#mutation;
    const emit = (label: string, change: (next: State) => void, isFault = false): void => {
      const next = copyOf(state);
      change(next);
      found.push({ state: next, label, isFault });
    };
    for (const place of state.publishers.keys()) publisherSteps(this.#config, without, state, place, emit);
    workerSteps(without, state, emit);
    for (const place of state.handlers.keys()) handlerSteps(this.#config, without, state, place, emit);
    otherSteps(state, emit);
    if (this.#config.hasTakeOver) takeOverSteps(state, emit);
    if (this.#config.hasRival && !state.isRivalSent) rival(state, emit);
    clientSteps(this.#config, without, state, emit);
    return found;
  }

  violationOf({ violation }: State): string | undefined {
    return violation;
  }

  violationAtEnd(state: State): string | undefined {
    if (this.#config.hasTakeOver) return afterTakeOver(state);
    if (this.#config.hasWill && state.client.phase === 'lost') return afterDisconnect(state);
    if (this.#config.hasRival)
      return afterRival(state) ?? (state.session.connection === 2 ? undefined : this.#missing(state));
    if (state.client.phase === 'lost') return this.#mayBeLost() ? undefined : 'the client had to reconnect';
    return this.#afterAll(state);
  }

  /** The library notices a loss only if a connection was lost. */
  #mayBeLost(): boolean {
    return this.#config.losses > 0;
  }

  #afterAll(state: State): string | undefined {
    const { client, links, session, sockets, entries, isWillPublished } = state;
    const missing = this.#missing(state);
    if (missing !== undefined) return missing;
    if (client.excused !== 0 && !this.#mayBeLost()) return 'a gap is said, and nothing was lost';
    if (client.phase !== 'connected') return `the client is ${client.phase} for ever`;
    const { current } = client;
    const link = links[current];
    const isOpen = sockets[current] === 'open' && link?.isConnected === true && !link.hasEnded;
    // A connection that has just been lost is found by the next post, or by the sweep.
    if (isOpen && session.connection !== current) return `connection ${current} does not have the session`;
    if (isOpen && entries.some((entry) => entry !== current && entry !== NONE))
      return `entries carry ${entries.join(' ')}`;
    if (!isOpen && !this.#mayBeLost()) return `connection ${current} cannot be used`;
    return isWillPublished ? 'the will was published, and the session goes on' : undefined;
  }

  /** The messages that the client has neither received nor been told are in a gap. */
  #missing({ client }: State): string | undefined {
    if (client.phase === 'lost') return undefined;
    const messages = this.#config.publishers.flatMap((filters, publisher) =>
      Array.from(filters, (_, place) => messageOf(publisher, place)),
    );
    const missing = messages.filter((each) => !((client.received | client.excused) & (1 << each)));
    return missing.length === 0 ? undefined : `message ${missing.join(' and ')} is lost`;
  }
}

/** A rival uses the ticket on connection 2 while the client moves to 1. */
function rival({ handlers }: State, emit: (label: string, change: (next: State) => void) => void) {
  if (handlers.length > 1) return;
  emit('a rival shows the same ticket on connection 2', (next) => {
    next.isRivalSent = true;
    next.sockets[2] = 'open';
    next.handlers.push({
      does: 'move',
      to: 2,
      shown: 0,
      from: 0,
      chain: 1,
      step: 0,
      kept: [],
      hasGap: false,
      hasEnded: false,
    });
  });
}

function afterTakeOver({ entries, sockets, takeOver }: State): string | undefined {
  const ghost = entries.find((entry) => entry !== NONE);
  if (ghost !== undefined) return `an entry of connection ${ghost} is left behind`;
  const open = sockets.findIndex((socket, connection) => socket === 'open' && connection < 2);
  return open >= 0 && takeOver.step > 2 ? `connection ${open} stays open` : undefined;
}

function afterDisconnect({ session, sockets, isWillPublished }: State): string | undefined {
  // The liveness timer finds a connection that has ended without the gateway's knowledge.
  const isUnnoticed = sockets[session.connection] === 'half-open';
  return isUnnoticed || isWillPublished ? undefined : 'the will is not published';
}

/** One of the two has the session, with all its filters. */
function afterRival({ client, links, session, entries }: State): string | undefined {
  const owner = session.connection;
  if (owner === NONE) return 'no connection has the session';
  if (links[owner]?.hasEnded === true) return `connection ${owner} has the session, and has ended`;
  if (entries.some((entry) => entry !== owner && entry !== NONE))
    return `entries carry ${entries.join(' ')}, and not ${owner}`;
  const isClients = client.phase === 'connected' && client.current === owner;
  return owner === 2 || isClients
    ? undefined
    : `connection ${owner} has the session, and the client ${client.current}`;
}
