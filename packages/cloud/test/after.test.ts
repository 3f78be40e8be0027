import { createBroker, DEFAULT_LIMITS, type LinkStore } from '@apus/broker';
import { createMemoryStores, MemoryLinks } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';
import { flush, sendAhead } from '../src/after.ts';
import type { Environment } from '../src/environment.ts';
import { createEnvironment, gatewayBrokerOptions, type Poster, type PostOutcome } from '../src/index.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => 0 };
const PACKET = Buffer.from([0xd0, 0x00]);

/** An environment whose posts all come to this, and what it does to connections. */
function environmentWhere(outcome: PostOutcome): { environment: Environment; done: string[] } {
  const done: string[] = [];
  const poster: Poster = {
    post: async (connectionId) => {
      done.push(`post ${connectionId}`);
      return outcome;
    },
    delete: async (connectionId) => {
      done.push(`delete ${connectionId}`);
    },
    get: async () => 'unknown',
  };
  const memory = new MemoryLinks(clock);
  const links: LinkStore = {
    load: (connectionId) => memory.load(connectionId),
    save: (connectionId, state) => memory.save(connectionId, state),
    end: (connectionId) => {
      done.push(`end ${connectionId}`);
      return memory.end(connectionId);
    },
  };
  const options = gatewayBrokerOptions({
    limits: DEFAULT_LIMITS,
    overlapping: 'one',
    responseInformation: undefined,
    ephemeralSessionsKeep: 'nothing',
    lossGraceSeconds: 0,
  });
  const environment = createEnvironment({
    links,
    poster,
    clock,
    log: silent,
    makeBroker: (connections) =>
      createBroker(
        {
          ...createMemoryStores(),
          connections,
          clock,
          log: silent,
          timers: { set: () => {}, cancel: () => {} },
          randomId: () => 'id',
          authenticator: { authenticate: () => ({ tenant: 'default', name: '' }) },
          authorizer: { mayPublish: () => true, maySubscribe: () => true },
          authenticationMethods: new Map(),
        },
        options,
      ),
  });
  return { environment, done };
}

describe('what is sent ahead of what waits', () => {
  it('ends its connection when it is lost, before anything joins the queue', async () => {
    const { environment, done } = environmentWhere('failed');
    environment.postbag.push('c', PACKET, true);
    await sendAhead(environment, 'c');
    expect(done).toEqual(['post c', 'delete c', 'end c']);
    await flush(environment);
    expect(done.filter((each) => each === 'post c')).toHaveLength(1);
  });

  it('leaves the connection alone when it has arrived, or was QoS 0', async () => {
    const arrived = environmentWhere('sent');
    arrived.environment.postbag.push('c', PACKET, true);
    await sendAhead(arrived.environment, 'c');
    expect(arrived.done).toEqual(['post c']);
    const dropped = environmentWhere('throttled');
    dropped.environment.postbag.push('c', PACKET, false);
    await sendAhead(dropped.environment, 'c');
    expect(dropped.done).toEqual(['post c']);
  });
});
