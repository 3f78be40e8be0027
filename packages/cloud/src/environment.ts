import type { Awaitable, Bans, Broker, Connections, LinkStore, Log } from '@apus/broker';
import type { GatewayConnections } from './connections/gateway-connections.ts';
import type { QueuedFanOut } from './fan-out/queued-fan-out.ts';
import type { ConnectDeadline } from './handshake/connect-deadline.ts';
import type { Meter } from './metrics/meter.ts';
import type { Postbag } from './posts/postbag.ts';
import type { Poster } from './posts/poster.ts';
import type { FrameQuota } from './quotas/frame-quota.ts';

/** Marks that are set only when everything gathered has left. */
export interface DoneAfterFlush {
  settleAll(): Promise<void>;
  drop(): void;
}

/** Bans whose list is somewhere else: a frame reads it along, anything else asks for that. */
export interface CloudBans extends Bans {
  /** Reads the list anew when it is time. Absent where the list is in this process. */
  refresh?(): Awaitable<void>;
}

/** A store that reads ahead what a frame is known to need (`createDynamoStores`). */
export interface FrameReader {
  /** Without a plan nothing is read ahead, and each topic is still matched once. */
  beginFrame(plan?: {
    readonly connectionId: string;
    readonly tenant: string;
    readonly topicNames: readonly string[];
    readonly looksAtEnd?: boolean;
    readonly isReplyWanted?: boolean;
  }): Promise<void>;
  /** True once, when acknowledgements have left it to the end of the frame to draw what waits. */
  takeOwedLook(): boolean;
  /** The frame's client is to fetch on, whatever its link had room for. */
  isMoreWaiting?(): boolean;
  /** Writes what the frame has gathered: before its reply leaves. */
  commitFrame?(): Promise<void>;
  endFrame(): void;
}

/** What the handlers of one execution environment work with. It handles one event at a time. */
export interface Environment {
  readonly broker: Broker;
  readonly links: LinkStore;
  readonly connections: GatewayConnections;
  readonly postbag: Postbag;
  readonly poster: Poster;
  readonly log: Log;
  readonly meter: Meter;
  /** Absent where no filter is ever left to workers. */
  readonly fanOut?: QueuedFanOut | undefined;
  readonly doneAfterFlush: readonly DoneAfterFlush[];
  readonly frameReader?: FrameReader | undefined;
  /** Absent where clients may send any number of frames. */
  readonly frameQuota?: FrameQuota | undefined;
  /** Absent where there are no bans. */
  readonly bans?: CloudBans | undefined;
  /** Absent where no timer cuts connections that do not show who they are. */
  readonly connectDeadline?: ConnectDeadline | undefined;
  /** The tenant whose topics are read ahead before the connection's own is known. */
  readonly defaultTenant: string;
  /** The largest packet that is taken from a client, in bytes. */
  readonly maximumPacketSize: number;
}

/** What makes a broker for the connections of one environment. */
export type MakeBroker = (connections: Connections) => Broker;
