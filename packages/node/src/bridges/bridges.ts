import type { Awaitable, Broker, Log, Message, Outlet, PublishReceipt, PublishRequest } from '@apus/broker';
import type { Violation } from '@apus/mqtt';
import type { Scheduler } from '../scheduler.ts';
import type { LocalStores } from '../stores.ts';
import { BRIDGE_CLIENT_PREFIX, bridgeIdentity } from './access.ts';
import { type LocalHandler, LocalLink } from './local-link.ts';
import type { LocalLinks } from './local-links.ts';

/** A session of the broker that a bridge opens for itself. It outlives the process with a data directory. */
export interface LocalSessionOptions {
  readonly tenant: string;
  /** The client identifier is `$bridge/NAME`. */
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
  /** Messages that wait in the session's queue. */
  waiting(): Awaitable<number>;
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
  readonly clock: Scheduler;
  readonly log: Log;
}

/** The bridges of a node. */
export interface RunningBridges {
  /** For `GET /api/v5/bridges`. */
  list(tenant: string): Awaitable<readonly object[]>;
  /** Where messages leave before their publishers are answered. @default nothing does so */
  readonly outlet?: Outlet | undefined;
  stop(): Promise<void>;
}

/** Starts bridges: `apus serve --bridges FILE` brings those of a file. It must not wait for another system. */
export type OpenBridges = (context: BridgesContext) => Promise<RunningBridges>;

/** The outlet of bridges that are started after the broker. */
export class BridgesOutlet implements Outlet {
  bridges: RunningBridges | undefined;

  take(tenant: string, message: Message, isAnswered: boolean): Awaitable<boolean> | undefined {
    return this.bridges?.outlet?.take(tenant, message, isAnswered);
  }
}

interface Parts extends Pick<BridgesContext, 'maximumPacketSize' | 'topicLevelsMax' | 'clock' | 'log'> {
  readonly broker: Broker;
  readonly stores: LocalStores;
  readonly locals: LocalLinks;
  readonly connectionId: () => string;
}

export function bridgesContext(parts: Parts): BridgesContext {
  const { maximumPacketSize, topicLevelsMax, clock, log, broker } = parts;
  return {
    ...{ maximumPacketSize, topicLevelsMax, clock, log },
    publish: (request) => broker.publish(request),
    open: (options) => openSession(parts, options),
  };
}

async function openSession(
  { broker, stores, locals, connectionId, log }: Parts,
  { tenant, name, expirySeconds, receiveMaximum, handler }: LocalSessionOptions,
): Promise<LocalSession> {
  const clientId = `${BRIDGE_CLIENT_PREFIX}${name}`;
  const link = new LocalLink({
    id: connectionId(),
    peer: { address: `bridge ${name}`, identity: bridgeIdentity(tenant, clientId) },
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
      return now === undefined ? 0 : stores.queues.length(now);
    },
  };
}
