import { createBroker, createProcessState, DEFAULT_LIMITS, type LinkStore } from '@apus/broker';
import { createMemoryStores, MemoryLinks } from '@apus/store-memory';
import type { Environment } from '../../src/environment.ts';
import { createEnvironment, gatewayBrokerOptions, type Poster, type PostOutcome } from '../../src/index.ts';
import type { PostAttempts } from '../../src/posts/poster.ts';

export const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => 0 };
/** PINGRESP, for which no client waits. */
export const PACKET = Buffer.from([0xd0, 0x00]);

export interface Doings {
  readonly environment: Environment;
  /** The calls that it made about connections, in their order. */
  readonly done: string[];
  readonly poster: Poster & PostAttempts;
}

/** An environment whose posts all come to this; `beforeEnd` holds up the end of a connection. */
export function environmentWhere(
  outcome: PostOutcome,
  beforeEnd: (connectionId: string) => Promise<void> | void = () => {},
): Doings {
  const done: string[] = [];
  const post = async (connectionId: string) => {
    done.push(`post ${connectionId}`);
    return outcome;
  };
  const poster: Poster & PostAttempts = {
    post,
    attempt: post,
    delete: async (connectionId) => {
      done.push(`delete ${connectionId}`);
      return true;
    },
    get: async () => 'unknown',
  };
  const memory = new MemoryLinks(clock);
  const links: LinkStore = {
    load: (connectionId) => memory.load(connectionId),
    save: (connectionId, state) => memory.save(connectionId, state),
    move: (from, to) => memory.move(from, to),
    adopt: (connectionId, state) => memory.adopt(connectionId, state),
    keep: (connectionId, packets) => memory.keep(connectionId, packets),
    resume: (from, to) => memory.resume(from, to),
    end: async (connectionId) => {
      await beforeEnd(connectionId);
      done.push(`end ${connectionId}`);
      return await memory.end(connectionId);
    },
  };
  const options = gatewayBrokerOptions({
    limits: DEFAULT_LIMITS,
    overlapping: 'one',
    responseInformation: undefined,
  });
  const stores = createMemoryStores();
  const randomId = () => 'id';
  const state = createProcessState({ clock, randomId });
  const environment = createEnvironment({
    links,
    poster,
    clock,
    log: silent,
    messageClock: state.messageClock,
    makeBroker: ({ connections }) => ({
      broker: createBroker(
        {
          ...stores,
          connections,
          clock,
          log: silent,
          timers: { set: () => {}, cancel: () => {} },
          randomId,
          authenticator: { authenticate: () => ({ tenant: 'default', name: '' }) },
          authorizer: { mayPublish: () => true, maySubscribe: () => true },
          authenticationMethods: new Map(),
        },
        options,
        state,
      ),
    }),
  });
  return { environment, done, poster };
}
