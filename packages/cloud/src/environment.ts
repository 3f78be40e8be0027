import type {
  Awaitable,
  Bans,
  Broker,
  Clock,
  ConnectionId,
  LinkStore,
  Log,
  MessageClock,
  UsageCounter,
} from '@apus/broker';
import type { FanOutQueue } from './fan-out/gathered-jobs.ts';
import type { Extension } from './frames/text-frame.ts';
import type { ConnectDeadline } from './handshake/connect-deadline.ts';
import type { Meter } from './metrics/meter.ts';
import type { Outbox } from './outbox.ts';
import type { Poster } from './posts/poster.ts';
import type { FrameQuota } from './quotas/frame-quota.ts';
import type { RuleQueue } from './rules/rule-outlet.ts';
import type { Tracer } from './tracing/tracer.ts';

/** Bans whose list is somewhere else: a frame reads it along, anything else asks for that. */
export interface CloudBans extends Bans {
  /** Reads the list anew when it is time. Absent where the list is in this process. */
  refresh?(): Awaitable<void>;
}

/** The kind of an event, as far as its stores have to know (`EventKind` of `@apus/store-dynamodb`). */
export interface EventKind {
  /** The connection whose frame is handled. */
  readonly connectionId?: string;
  readonly looksAtEnd?: boolean;
  readonly isReplyWanted?: boolean;
  readonly isOnePacket?: boolean;
}

/** The stores of one event, beside the broker's ports (`EventStores` of `@apus/store-dynamodb`). */
export interface EventStores {
  readonly links: LinkStore;
  /** Reads the items that a frame is known to need. */
  readAhead(plan: {
    readonly connectionId: string;
    readonly tenant: string;
    readonly topicNames: readonly string[];
  }): Promise<void>;
  /** True once, when acknowledgements have freed places and the queue is to be drained at the end of the frame. */
  takeDrainDue(): boolean;
  /** The client has more to fetch, even when its link had room for all that it was sent. */
  readonly isMoreWaiting: boolean;
  /** Writes the acknowledgements that the event has gathered. */
  commit(): Promise<void>;
}

/** Makes the broker of one event, over its outbox; with stores of the event's own where they are far away. */
export type MakeBroker = (
  outbox: Outbox,
  kind: EventKind,
) => { readonly broker: Broker; readonly stores?: EventStores };

export type BeforePage = (
  connectionId: ConnectionId,
  commit: () => Promise<void>,
) => Promise<(() => void) | undefined>;

/** Shared by the handlers of one execution environment. An event's own state is in its `Outbox`. */
export interface Environment {
  readonly makeBroker: MakeBroker;
  /** Of all brokers. */
  readonly messageClock: MessageClock;
  readonly links: LinkStore;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Absent where usage is not counted. */
  readonly usage?: UsageCounter | undefined;
  /** Absent where no traces are asked for. */
  readonly tracer?: Tracer | undefined;
  /** Absent where no filter is ever left to workers. */
  readonly fanOut?: FanOutQueue | undefined;
  /** Absent where there are no rules. */
  readonly rules?: RuleQueue | undefined;
  /** Absent where clients may send any number of frames. */
  readonly frameQuota?: FrameQuota | undefined;
  /** Absent where there are no bans. */
  readonly bans?: CloudBans | undefined;
  /** Absent where no timer cuts connections that do not show who they are. */
  readonly connectDeadline?: ConnectDeadline | undefined;
  /**
   * Called before a page is taken from the queue of the connection's session, to leave with a reply. `commit` posts what
   * the event has gathered. Returns a function to be called where the queue was empty. Absent where the session's record
   * keeps other messages behind the page.
   */
  readonly beforePage?: BeforePage | undefined;
  /** The tenant whose topics are read ahead before the connection's own is known. */
  readonly defaultTenant: string;
  /** The gateway cuts a connection at this age. */
  readonly connectionSeconds: number;
  /** How long after a loss a client may go on with its session. 0: not at all. */
  readonly resumeSeconds: number;
  /** Milliseconds from a session's move to the cut of its old connection. 0: before its subscriptions move. */
  readonly cutAfterMs: number;
  /** Extensions of the wire that the server takes where a client offers them. */
  readonly extensions: readonly Extension[];
  /** CONNECT may come with the handshake. */
  readonly takesConnect: boolean;
  readonly sleep: (ms: number) => Promise<void>;
  /** The largest packet that is taken from a client, in bytes. */
  readonly maximumPacketSize: number;
}
