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
  /** Messages that wait in the session's queue, and `messageBytes` of them. */
  waiting(): { readonly messages: number; readonly bytes: number };
}

/** The parts of a node that bridges use. */
export interface BridgesContext {
  /** @throws {LocalLinkEnded} where the broker does not let it in */
  open(options: LocalSessionOptions): Promise<LocalSession>;
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

/** The bridges of a node. */
export interface RunningBridges {
  /** For `GET /api/v5/bridges`. */
  list(tenant: string): Awaitable<readonly object[]>;
  /** For `/api/v5/rules`. */
  readonly rules?: RunningRules | undefined;
  /** Where messages leave before their publishers are answered. @default nothing does so */
  readonly outlet?: Outlet | undefined;
  stop(): Promise<void>;
}

/**
 * In a cluster: those that each process runs, as they share their work by themselves; and those that one process at a time runs,
 * whose sessions it has.
 */
export type BridgesPart = 'all' | 'shared' | 'alone';

/** Starts bridges: `apus serve --bridges FILE` brings those of a file. It must not wait for another system. */
export type OpenBridges = (context: BridgesContext, part: BridgesPart) => Promise<RunningBridges>;

interface Parts extends Omit<BridgesContext, 'open' | 'publish' | 'kept'> {
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
  };
}

async function openSession(
  { broker, stores, locals, connectionId, log }: Parts,
  { tenant, kind, name, expirySeconds, receiveMaximum, handler }: LocalSessionOptions,
): Promise<LocalSession> {
  const clientId = `$${kind}/${name}`;
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
    waiting() {
      const now = sessionNow();
      if (now === undefined) return { messages: 0, bytes: 0 };
      return { messages: stores.queues.length(now), bytes: stores.queues.bytes(now) };
    },
  };
}
