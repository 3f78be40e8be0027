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
import type { FrameQuota, Tracer } from '@apus/door';
import type { FanOutQueue } from './fan-out/gathered-jobs.ts';
import type { Extension } from './frames/text-frame.ts';
import type { HandlerSettings } from './function-options.ts';
import type { ConnectDeadline } from './handshake/connect-deadline.ts';
import type { Meter } from './metrics/meter.ts';
import type { Outbox } from './outbox.ts';
import type { Poster } from './posts/poster.ts';
import type { RuleQueue } from './rules/rule-outlet.ts';

/** Bans whose list is in a table: a frame reads it along with its own items, other events call `refresh`. */
export interface CloudBans extends Bans {
  /** Reads the list again if it is due. Absent if the list is in this process. */
  refresh?(): Awaitable<void>;
}

/** Tells the stores of what kind an event is (`EventKind` of `@apus/store-dynamodb`). */
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
  /** True once, if acknowledgements have freed places and the queue has to be drained at the end of the frame. */
  takeDrainDue(): boolean;
  /** The client has to fetch more, even if its link had room for everything that it was sent. */
  readonly isMoreWaiting: boolean;
  /** Writes the acknowledgements that the event has gathered. */
  commit(): Promise<void>;
}

/** Makes the broker of one event over its outbox, and, if the stores are far away, stores for the event. */
export type MakeBroker = (
  outbox: Outbox,
  kind: EventKind,
) => { readonly broker: Broker; readonly stores?: EventStores };

export type BeforePage = (
  connectionId: ConnectionId,
  commit: () => Promise<void>,
) => Promise<(() => void) | undefined>;

/** Everything that the handlers of one execution environment share. The state of an event is in its `Outbox`. */
export interface Environment extends HandlerSettings {
  readonly makeBroker: MakeBroker;
  /** Shared by all brokers of the environment. */
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
  /** Absent if no filter has workers. */
  readonly fanOut?: FanOutQueue | undefined;
  /** Absent where there are no rules. */
  readonly rules?: RuleQueue | undefined;
  /** Absent where clients may send any number of frames. */
  readonly frameQuota?: FrameQuota | undefined;
  /** Absent where there are no bans. */
  readonly bans?: CloudBans | undefined;
  /** Absent if no timer cuts connections without an identity. */
  readonly connectDeadline?: ConnectDeadline | undefined;
  /**
   * Called before messages are dequeued for a reply. `commit` posts the packets that the event has gathered. Returns a
   * function to be called if nothing was dequeued. Absent if the session's record keeps other messages behind the
   * page.
   */
  readonly beforePage?: BeforePage | undefined;
  /** The tenant for whose topics a frame reads ahead before the connection's tenant is known. */
  readonly defaultTenant: string;
  /** The gateway cuts a connection at this age. */
  readonly connectionSeconds: number;
  /** How long after a loss a client may resume its session. 0: it may not. */
  readonly resumeSeconds: number;
  /** Milliseconds from a session's move to the cut of its old connection. 0: before its subscriptions move. */
  readonly cutAfterMs: number;
  /** Extensions of the text frames that the server accepts. */
  readonly extensions: readonly Extension[];
  /** CONNECT may come with the handshake. */
  readonly takesConnect: boolean;
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * Lets other clients of the process have their turn, when the packets of one frame have taken `TURN_MS_MAX`. Absent in
   * a function, which handles one event at a time.
   */
  readonly pause?: (() => Promise<void>) | undefined;
  /** The largest packet that is taken from a client, in bytes. */
  readonly maximumPacketSize: number;
}
