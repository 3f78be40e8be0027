import {
  type BrokerLimits,
  type BrokerOptions,
  createBroker,
  createProcessState,
  DEFAULT_LIMITS,
  type Ports,
  type ProcessState,
  type Timer,
} from '@apus/broker';
import { type Emulator, type EmulatorOptions, type Environment, startEmulator } from '@apus/emulated-aws';
import { type QoS, Violation } from '@apus/mqtt';
import { createMemoryStores, MemoryLinks, type MemoryStores } from '@apus/store-memory';
import { expect, onTestFinished } from 'vitest';
import { challengeMethod } from '../../../../test/behaviour/raw/challenge.ts';
import { Mailbox } from '../../../../test/support/text-client.ts';
import {
  createEnvironment,
  createHandlers,
  FRAME_ROUTES,
  gatewayBrokerOptions,
  type Handlers,
  inOneEvent,
  type MakeBroker,
  SignedPoster,
} from '../../src/index.ts';

export interface GatewayOptions {
  readonly emulator?: Partial<Omit<EmulatorOptions, 'createEnvironment'>>;
  readonly limits?: Partial<BrokerLimits>;
  readonly overlapping?: BrokerOptions['overlapping'];
  /** The answer of `getRemainingTimeInMillis`, which is called before each packet of a frame. @default 5 s */
  readonly remainingMs?: () => number;
  /** Called before each call on a store, which waits for the answer. */
  readonly onStoreCall?: (name: string) => Promise<void> | undefined;
  /** Wraps the handlers of an environment: to look at what goes in, and to hold it. */
  readonly wrap?: (handlers: Handlers) => Handlers;
}

/** A clock that a test moves by hand; the test fires the broker's timers too. */
export class BrokerTime {
  nowMs = Date.UTC(2026, 0, 1);
  readonly timers = new Map<string, { readonly timer: Timer; readonly dueAtMs: number }>();

  now(): number {
    return this.nowMs;
  }
}

export interface Gateway {
  readonly url: string;
  readonly emulator: Emulator;
  readonly stores: MemoryStores;
  readonly links: MemoryLinks;
  readonly time: BrokerTime;
  /** The errors that handlers threw. */
  readonly failures: Error[];
  /** Waits for the next `$disconnect` to be done: the loss of a client is noticed some time after the client's side is closed. */
  disconnected(): Promise<unknown>;
  /** Moves the broker's clock and fires due timers, as the timers' function would. */
  advance(seconds: number): Promise<void>;
  /** Publishes for a backend: messages may be larger than a client's frame. Resolves when they have been posted. */
  publish(topic: string, payload: string, qos: QoS, retain?: boolean): Promise<void>;
}

/** Nothing was left un-awaited: no request came from an environment between its invocations, and no handler threw. */
async function stopGateway({ emulator, failures }: Gateway): Promise<void> {
  await emulator.quiet();
  const { events } = emulator.counters.snapshot();
  await emulator.stop();
  expect(failures).toEqual([]);
  expect(events).not.toHaveProperty('requestsWhileFrozen');
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * The real handlers behind the strict emulator. Every store answers with a promise, and only while the environment
 * runs: what a handler has not awaited when it returns stays undone, as in the cloud.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const time = new BrokerTime();
  const stores = createMemoryStores();
  const links = new MemoryLinks(time);
  const failures: Error[] = [];
  const disconnects = new Mailbox<string>('a $disconnect');
  const brokerOptions = gatewayBrokerOptions({
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    overlapping: options.overlapping ?? 'one',
    responseInformation: undefined,
  });
  let ids = 0;
  const world = worldOf(time, () => `id${(ids++).toString(36)}`);
  const makeBroker = (over: MemoryStores, state: ProcessState) =>
    (({ connections }) => ({
      broker: createBroker({ ...over, ...world, connections }, brokerOptions, state),
    })) satisfies MakeBroker;
  const emulator = await startEmulator({
    routes: FRAME_ROUTES,
    seed: 1,
    onInvocationError: (error) => failures.push(error),
    ...options.emulator,
    createEnvironment: (environment) => {
      const remote = stored(environment, stores, options.onStoreCall);
      const state = createProcessState(world);
      const handlers = createHandlers({
        links: asRemote(environment, links, options.onStoreCall),
        poster: posterOf(environment),
        clock: time,
        log: silent,
        makeBroker: makeBroker(remote, state),
        messageClock: state.messageClock,
        maximumPacketSize: brokerOptions.limits.maximumPacketSize,
      });
      const wrapped = (options.wrap ?? same)(withDeadline(handlers, options.remainingMs));
      return {
        ...wrapped,
        disconnect: async (event) => {
          const result = await wrapped.disconnect(event);
          disconnects.push(event.requestContext.connectionId);
          return result;
        },
      };
    },
  });
  const ownState = createProcessState(world);
  const outside = createEnvironment({
    links,
    poster: new SignedPoster({
      endpoint: emulator.managementEndpoint,
      region: emulator.region,
      credentials: emulator.credentials,
      clock: { now: Date.now },
    }),
    clock: time,
    log: silent,
    makeBroker: makeBroker(stores, ownState),
    messageClock: ownState.messageClock,
  });
  const gateway: Gateway = {
    url: emulator.url,
    emulator,
    stores,
    links,
    time,
    failures,
    disconnected: () => disconnects.next(),
    async advance(seconds) {
      await emulator.quiet();
      time.nowMs += seconds * 1000;
      for (const [key, { timer, dueAtMs }] of [...time.timers]) {
        if (dueAtMs > time.nowMs) continue;
        time.timers.delete(key);
        await inOneEvent(outside, ({ broker }) => broker.fire(timer));
      }
    },
    async publish(topic, payload, qos, retain = false) {
      const message = { topic, payload: Buffer.from(payload), qos, retain, properties: {} };
      const receipt = await inOneEvent(outside, ({ broker }) =>
        broker.publish({ tenant: 'default', ...message }),
      );
      if (receipt instanceof Violation) throw new Error(receipt.reason);
    },
  };
  onTestFinished(() => stopGateway(gateway));
  return gateway;
}

function worldOf(time: BrokerTime, randomId: () => string): Omit<Ports, keyof MemoryStores | 'connections'> {
  return {
    clock: time,
    timers: {
      set: (timer, dueAtMs) => void time.timers.set(nameOf(timer), { timer, dueAtMs }),
      cancel: (timer) => void time.timers.delete(nameOf(timer)),
    },
    log: silent,
    authenticator: { authenticate: ({ username }) => authenticate(username) },
    authenticationMethods: new Map([[challengeMethod.name, challengeMethod]]),
    authorizer: { mayPublish: () => true, maySubscribe: () => true },
    randomId,
  };
}

function nameOf({ kind, session, connectionId }: Timer): string {
  return `${kind} ${session.key} ${connectionId}`;
}

/** Everybody but `mallory`. */
function authenticate(username: string | undefined) {
  if (username === 'mallory') return { refused: 0x87, reason: 'mallory is not welcome' };
  return { tenant: 'default', name: username ?? '' };
}

export function posterOf(environment: Environment): SignedPoster {
  const { variables, managementEndpoint, clock } = environment;
  return new SignedPoster({
    endpoint: managementEndpoint,
    region: variables.AWS_REGION ?? '',
    credentials: {
      accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
      sessionToken: variables.AWS_SESSION_TOKEN,
    },
    clock: { now: Date.now },
    sleep: (ms) => new Promise((resolve) => void clock.setTimer(ms, resolve)),
  });
}

function withDeadline(handlers: Handlers, remainingMs: (() => number) | undefined): Handlers {
  if (remainingMs === undefined) return handlers;
  return {
    ...handlers,
    default: (event) => handlers.default(event, { getRemainingTimeInMillis: remainingMs }),
  };
}

const same = (handlers: Handlers): Handlers => handlers;

function stored(
  environment: Environment,
  stores: MemoryStores,
  onCall: GatewayOptions['onStoreCall'],
): MemoryStores {
  const entries = Object.entries(stores).map(([name, store]) => [name, asRemote(environment, store, onCall)]);
  return Object.fromEntries(entries) as unknown as MemoryStores;
}

/** A store over the network: it answers later, and neither is called nor answers while the environment is frozen. */
function asRemote<T extends object>(
  environment: Environment,
  store: T,
  onCall: GatewayOptions['onStoreCall'],
): T {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        await environment.checkpoint(`before ${String(name)}`);
        await onCall?.(String(name));
        const answer: unknown = Reflect.apply(member, target, given);
        await environment.checkpoint(`after ${String(name)}`);
        return answer;
      };
    },
  });
}
