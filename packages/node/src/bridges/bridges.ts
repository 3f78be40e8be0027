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
import type { Scheduler } from '@apus/door';
import { KeptMessages } from '@apus/door';
import type { Violation } from '@apus/mqtt';
import { stackOf } from '../log.ts';
import type { LocalStores } from '../stores.ts';
import { bridgeIdentity } from './access.ts';
import { type LocalHandler, LocalLink } from './local-link.ts';
import type { LocalLinks } from './local-links.ts';

/** A session of the broker that a bridge opens for itself. With a data directory it outlives the process. */
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
  /** Frees the ids of received and unreleased QoS 2 messages, for a peer that has forgotten them. */
  forgetReceived(): Awaitable<void>;
}

type LocalSessionName = Pick<LocalSessionOptions, 'tenant' | 'kind' | 'name'>;

/** Messages that wait in a session's queue, and `messageBytes` of them. */
export interface Waiting {
  readonly messages: number;
  readonly bytes: number;
}

/** The part of a node that bridges use. */
export interface BridgesContext {
  /** @throws {LocalLinkEnded} if the broker refuses it */
  open(options: LocalSessionOptions): Promise<LocalSession>;
  /** 0 for a session that is at another process. */
  waiting(session: LocalSessionName): Waiting;
  /** Publishes without a connection. When it is answered, the message is durable here. */
  publish(request: PublishRequest): Awaitable<PublishReceipt | Violation>;
  /** The largest packet that the broker takes. */
  readonly maximumPacketSize: number;
  readonly topicLevelsMax: number;
  /** The limit of each session's queue. */
  readonly queueLengthMax: number;
  readonly queueBytesMax: number;
  /** Messages that the node keeps beside those of clients, for a named purpose. */
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
  /** Tries once, and deletes the letter if that succeeds. Otherwise returns the error. */
  send(letter: DeadLetter): Promise<string | undefined>;
  discard(letter: DeadLetter): Awaitable<void>;
}

export interface DeadLetter {
  readonly message: Message;
  readonly error: string;
  readonly attempts: number;
  readonly failedAtMs: number;
}

/** Messages of a tenant. */
export interface TenantFilter {
  readonly tenant: string;
  readonly topicFilter: string;
  /** Those of one publisher: its `quotaHolderKey`. @default those of all */
  readonly holder?: string | undefined;
}

/**
 * `little`: a publisher has to send its message again later. `none`: the message may not be queued, even if it is
 * under way. `never`: it is too large for an empty queue.
 */
export type BacklogRoom = 'enough' | 'little' | 'none' | 'never';

/** Messages, and their `messageBytes`. At least one message of any size. */
export interface Portion {
  readonly messages: number;
  readonly bytes: number;
}

/** Messages from other processes for which a queue had no room; and those of them that found none in time. */
export interface BacklogCounts {
  readonly givenBack: number;
  readonly givenUp: number;
}

/** The queues at this process from which messages leave later. */
export interface Backlog {
  /**
   * Asked in the turn in which the message is queued, so that no acknowledged message is dropped.
   *
   * @param holder the `quotaHolderKey` of its publisher, which may have a share of each queue
   */
  roomFor(tenant: string, message: Message, holder?: string): BacklogRoom;
  /** The filter of the first queue that has no room for the message; with `holder`, if it is the publisher's share. */
  lacking(tenant: string, message: Message, holder?: string): TenantFilter | undefined;
  /** The message is queued in this turn. */
  queued(tenant: string, message: Message, holder?: string): void;
  /**
   * Filters whose messages have found little room or none, until there is room again for many, and for the largest of
   * them.
   */
  full(): readonly TenantFilter[];
  /** How much of the messages that wait at other processes is called up before the queue is looked at again. */
  readonly portion: Portion;
  /** Calls back, from now on, when messages have left a queue. */
  watch(left: () => void): void;
  /** Adds to the counts of this filter's rules in the API. */
  count(queue: TenantFilter, counts: BacklogCounts): void;
}

/** The bridges of a node. */
export interface RunningBridges {
  /** For `GET /api/v5/bridges`. */
  list(tenant: string): Awaitable<readonly object[]>;
  /** For `/api/v5/rules`. */
  readonly rules?: RunningRules | undefined;
  /** Hands messages to other systems before their publishers are answered. @default none */
  readonly outlet?: Outlet | undefined;
  /** The queues of the parts 'all' and 'shared'. @default none */
  readonly backlog?: Backlog | undefined;
  stop(): Promise<void>;
}

/**
 * In a cluster: bridges that each process runs, since they share their work by themselves; and bridges that one
 * process at a time runs, which has their sessions.
 */
export type BridgesPart = 'all' | 'shared' | 'alone';

/** Starts bridges: those of a file, for `apus serve --bridges FILE`. Must not wait for another system. */
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
    failed: (error) => log.error('link-failed', { clientId, error: stackOf(error) }),
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
