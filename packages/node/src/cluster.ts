import type { Duplex } from 'node:stream';
import type { Slice } from '@apus/api';
import type {
  Ban,
  Broker,
  FanOut,
  Log,
  Peer,
  Presence,
  StreamDeclarations,
  StreamFeed,
  Timers,
} from '@apus/broker';
import type { ApiAnswer, Scheduler, SharedRates } from '@apus/door';
import type { TenantStore } from '@apus/identity';
import type { MemoryBudget, SharedHoldings } from '@apus/store-memory';
import type { Backlog, TenantFilter } from './bridges/bridges.ts';
import type { SharedDelays } from './shared-delays.ts';
import type { OpenedStores } from './stores.ts';
import type { ForwardedWire } from './transport.ts';
import type { UsageJournal } from './usage/usage-journal.ts';

/** The part of a node that a cluster uses before the node has a broker. */
export interface ClusterContext {
  readonly clock: Scheduler;
  readonly memory: MemoryBudget;
  readonly log: Log;
  readonly streams: StreamDeclarations | undefined;
  /** The register of this process: an engine without one takes it over. */
  readonly tenants: TenantStore | undefined;
  /** How long members of a dead process stay in rooms. */
  readonly presenceGraceSeconds: number;
}

/** A question of one process to another about its clients. */
export interface PeerRequest {
  /** The operation's id in the OpenAPI document, as `listClients`. */
  readonly operation: string;
  readonly tenant: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: string;
  /** The wanted part of a list. */
  readonly slice?: Slice | undefined;
}

/** The other processes, which the API asks about their clients. */
export interface ApiPeers {
  /** The name of this process among the others. */
  readonly me: string;
  others(): Promise<readonly string[]>;
  /** Undefined: it has not answered in time. */
  ask(process: string, request: PeerRequest): Promise<ApiAnswer | undefined>;
  /** See `Cluster`. */
  homeOf(clientId: string): Promise<string | undefined> | undefined;
}

/** The part of a node that a cluster uses once the node has a broker. */
export interface ClusterNode {
  readonly broker: Broker;
  readonly timers: Timers;
  /** Answers another process. */
  answer(request: PeerRequest): Promise<ApiAnswer>;
  /** The list of bans has changed to this one. Resolves when newly banned clients have been ended. */
  bansChanged(bans: readonly Ban[]): Promise<void>;
  /** Another process has changed a tenant. Resolves when the change is in force here. */
  tenantChanged(name: string, json: string | undefined): Promise<void>;
  /** Ends the sessions of a tenant that another process removes. */
  clearTenant(tenant: string): Promise<void>;
  /** This process runs the bridges and rules that one process at a time runs. May be called again. */
  lead(): void;
  /** Queues of rules at this process, which messages of other processes fill as well. Undefined: there are none. */
  readonly backlog: Backlog | undefined;
  /** These rule queues of another process are full: publishers of such messages have to send them again later. */
  fullElsewhere(process: string, filters: readonly TenantFilter[]): void;
  /** Another process asks for the usage of all. Resolves when that of this process is in the journal. */
  saveUsage(): Promise<void>;
  /** Sessions of another process are here now: ends banned ones. */
  enforceBans(): Promise<void>;
  /** Loads what evaluates conditions of subscriptions, before sessions come that may have some. */
  loadConditions(): Promise<void>;
  /** Serves a client that is connected to another process, or a request: the socket carries the bytes as they came. */
  accept(peer: Peer, wire: ForwardedWire, socket: Duplex): void;
}

/** A client that another process serves. */
export interface ForwardedClient {
  readonly peer: Peer;
  readonly wire: ForwardedWire;
  readonly socket: Duplex;
  /** Bytes that were read from the socket. */
  readonly read: readonly Buffer[];
}

/** A cluster that this process is a part of. */
export interface Cluster extends ApiPeers {
  /** A name for people, as `apus@web-1:4711`. */
  readonly nodeName: string;
  readonly opened: OpenedStores;
  readonly fanOut: FanOut;
  /** Which process tells the watchers of each room, and about how many watchers are at others. */
  readonly rooms: Pick<Required<Presence>, 'hand' | 'audienceOf'> & {
    /** The tick of a room whose watchers this process tells. */
    tick(tenant: string, room: string): Promise<void>;
  };
  /** The usage of all processes. */
  readonly usage: UsageJournal;
  /** The times of delayed messages of all processes. */
  readonly delays: SharedDelays;
  /** The register of all processes. Undefined: none was given. */
  readonly tenants: TenantStore | undefined;
  /** Resolves when the other processes have ended the sessions of a removed tenant. */
  readonly tellClear: (tenant: string) => Promise<void>;
  /** Counts the connections, sessions and subscriptions of holders at all processes. */
  readonly holdings: SharedHoldings;
  /** Charges holders for their packets and deliveries at all processes. */
  readonly rates: SharedRates;
  /** The feed of the streams that all processes have. */
  readonly feed: StreamFeed;
  /** Joins the cluster: to be called before the first client is let in. */
  start(node: ClusterNode): Promise<void>;
  /** Another process is known to be dead: takes its sessions over now, and not when its lease ends. */
  gone(name: string): Promise<void>;
  /**
   * The list of bans has changed in its store. Resolves when all processes have it, and have ended the banned clients.
   */
  readonly tellBans: () => Promise<void>;
  /**
   * The process that has the sessions of this client. Undefined: this one, or none; without a promise if that is known.
   *
   * @throws {Unavailable} if they move from one process to another for too long
   */
  homeOf(clientId: string): Promise<string | undefined> | undefined;
  /**
   * The same for a CONNECT of the client. If no other process has the client, this one does until `leaveClient` is
   * called, and CONNECTs to other processes are passed on to it.
   */
  takeClient(clientId: string): Promise<string | undefined> | undefined;
  /** That CONNECT has been handled. The client stays here as long as it has a session here. */
  leaveClient(clientId: string): void;
  forward(home: string, client: ForwardedClient): void;
  /** Ends the connections of clients that other processes serve. */
  endForwarded(): void;
}

/** Joins a cluster: `apus serve --cluster` brings the one over Valkey. */
export type OpenCluster = (context: ClusterContext) => Promise<Cluster>;
