import type {
  Awaitable,
  Broker,
  Log,
  Message,
  Outlet,
  PublishReceipt,
  PublishRequest,
  RetainedLimits,
} from '@apus/broker';
import type { Violation } from '@apus/mqtt';
import { KeptMessages } from '../kept-messages.ts';
import type { Scheduler } from '../scheduler.ts';
import type { LocalStores } from '../stores.ts';
import { bridgeIdentity } from './access.ts';
import { type LocalHandler, LocalLink } from './local-link.ts';
import type { LocalLinks } from './local-links.ts';

/** A session of the broker that a bridge opens for itself. It outlives the process with a data directory. */
export interface LocalSessionOptions {
  readonly tenant: string;
  /** The client identifier is `$bridge/NAME`, or `$rule/NAME`. */
  readonly kind: 'bridge' | 'rule';
  readonly name: string;
  readonly expirySeconds: number;
  readonly receiveMaximum: number;
  readonly handler: LocalHandler;
}

export interface LocalSession {
  readonly link: LocalLink;
  /** The filters that the session was subscribed to before. */
  readonly topicFilters: readonly string[];
  /** Frees the ids of QoS 2 messages that were received and not released, for a peer that has forgotten them. */
  forgetReceived(): Awaitable<void>;
}

type LocalSessionName = Pick<LocalSessionOptions, 'tenant' | 'kind' | 'name'>;

/** Messages that wait in a session's queue, and `messageBytes` of them. */
export interface Waiting {
  readonly messages: number;
  readonly bytes: number;
}

/** The parts of a node that bridges use. */
export interface BridgesContext {
  /** @throws {LocalLinkEnded} where the broker does not let it in */
  open(options: LocalSessionOptions): Promise<LocalSession>;
  /** Nothing waits for a session that is not at this process. */
  waiting(session: LocalSessionName): Waiting;
  /** As for a publisher without a connection: the answer says that the message is durable here. */
  publish(request: PublishRequest): Awaitable<PublishReceipt | Violation>;
  /** Packets of this size are the largest that the broker takes from anybody. */
  readonly maximumPacketSize: number;
  readonly topicLevelsMax: number;
  /** Of the queue of each session. */
  readonly queueLengthMax: number;
  readonly queueBytesMax: number;
  /** Messages that the node keeps beside those of clients, for a purpose that has a name. */
  kept(purpose: string, limits: RetainedLimits): KeptMessages;
  readonly clock: Scheduler;
  readonly log: Log;
}

/** The rules of a node, as its API asks for them. */
export interface RunningRules {
  list(tenant: string): readonly object[];
  /** Undefined: there is no such rule. */
  deadLetters(tenant: string, name: string): DeadLetters | undefined;
}

/** Messages that a rule has given up. */
export interface DeadLetters {
  /** Oldest first. */
  all(): AsyncIterable<DeadLetter>;
  get(id: string): Promise<DeadLetter | undefined>;
  /** Tries once, and forgets it where that succeeds. Otherwise the error. */
  send(letter: DeadLetter): Promise<string | undefined>;
  discard(letter: DeadLetter): Awaitable<void>;
}

export interface DeadLetter {
  readonly message: Message;
  readonly error: string;
  readonly attempts: number;
  readonly failedAtMs: number;
}

export interface TenantFilter {
  readonly tenant: string;
  readonly topicFilter: string;
}

/**
 * `little`: a publisher is to send its message again later. `none`: the message may not be queued, also if it is on its way. `never`:
 * it is too large for an empty queue.
 */
export type BacklogRoom = 'enough' | 'little' | 'none' | 'never';

/** Messages, and `messageBytes` of them. At least one message, whatever its size. */
export interface Portion {
  readonly messages: number;
  readonly bytes: number;
}

/** Messages of publishers at other processes that a queue had no room for, and those among them that found none in time. */
export interface BacklogCounts {
  readonly givenBack: number;
  readonly givenUp: number;
}

/** The queues at this process out of which messages leave later. */
export interface Backlog {
  /** Asked in the turn in which the message is queued, so that none gives way that was acknowledged. */
  roomFor(tenant: string, message: Message): BacklogRoom;
  /** The first queue, by its filter, that has no room for the message. */
  lacking(tenant: string, message: Message): TenantFilter | undefined;
  /** Filters whose messages have found little room or none, until there is room for many again, and for the largest of them. */
  full(): readonly TenantFilter[];
  /** Of what waits elsewhere for a queue, so much is taken before the queue is looked at again. */
  readonly portion: Portion;
  /** Calls back, from now on, when messages have left a queue. */
  watch(left: () => void): void;
  /** Adds to the counts that the API shows of the rules of this filter. */
  count(queue: TenantFilter, counts: BacklogCounts): void;
}

/** The bridges of a node. */
export interface RunningBridges {
  /** For `GET /api/v5/bridges`. */
  list(tenant: string): Awaitable<readonly object[]>;
  /** For `/api/v5/rules`. */
  readonly rules?: RunningRules | undefined;
  /** Where messages leave before their publishers are answered. @default nothing does so */
  readonly outlet?: Outlet | undefined;
  /** Of the parts 'all' and 'shared'. @default there are no such queues */
  readonly backlog?: Backlog | undefined;
  stop(): Promise<void>;
}

/**
 * In a cluster: those that each process runs, as they share their work by themselves; and those that one process at a time runs,
 * whose sessions it has.
 */
export type BridgesPart = 'all' | 'shared' | 'alone';

/** Starts bridges: `apus serve --bridges FILE` brings those of a file. It must not wait for another system. */
export type OpenBridges = (context: BridgesContext, part: BridgesPart) => Promise<RunningBridges>;

interface Parts extends Omit<BridgesContext, 'open' | 'waiting' | 'publish' | 'kept'> {
  readonly broker: Broker;
  readonly stores: LocalStores;
  readonly locals: LocalLinks;
  readonly connectionId: () => string;
}

export function bridgesContext(parts: Parts): BridgesContext {
  const { broker, stores, locals: _, connectionId: __, ...context } = parts;
  return {
    ...context,
    publish: (request) => broker.publish(request),
    kept: (purpose, limits) => new KeptMessages(stores.retained, purpose, limits),
    open: (options) => openSession(parts, options),
    waiting: (name) => waitingFor(stores, name),
  };
}

function waitingFor({ sessions, queues }: LocalStores, { tenant, kind, name }: LocalSessionName): Waiting {
  const session = sessions.get(tenant, localClientId({ kind, name }))?.session;
  if (session === undefined) return { messages: 0, bytes: 0 };
  return { messages: queues.length(session), bytes: queues.bytes(session) };
}

function localClientId({ kind, name }: Pick<LocalSessionName, 'kind' | 'name'>): string {
  return `$${kind}/${name}`;
}

async function openSession(
  { broker, stores, locals, connectionId, log }: Parts,
  { tenant, kind, name, expirySeconds, receiveMaximum, handler }: LocalSessionOptions,
): Promise<LocalSession> {
  const clientId = localClientId({ kind, name });
  const link = new LocalLink({
    id: connectionId(),
    peer: { address: `${kind} ${name}`, identity: bridgeIdentity(tenant, clientId) },
    handler,
    broker,
    gone: (ended) => locals.remove(ended),
    failed: (error) =>
      log.error('link-failed', { clientId, error: error instanceof Error ? error.stack : String(error) }),
  });
  locals.add(link);
  await link.connect(clientId, expirySeconds, receiveMaximum);
  const sessionNow = () => (link.state.phase === 'connected' ? link.state.connection.session : undefined);
  const session = sessionNow();
  const subscriptions = session === undefined ? [] : stores.subscriptions.list(session);
  return {
    link,
    topicFilters: subscriptions.map(({ topicFilter }) => topicFilter),
    async forgetReceived() {
      const now = sessionNow();
      if (now !== undefined) await stores.received.clear(now);
    },
  };
}
