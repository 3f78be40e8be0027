import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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
import type { TenantStore } from '@apus/identity';
import type { MemoryBudget } from '@apus/store-memory';
import type { ApiAnswer } from './api/answer.ts';
import type { Slice } from './api/paging.ts';
import type { Backlog, TenantFilter } from './bridges/bridges.ts';
import type { SharedHoldings } from './quotas/shared-holdings.ts';
import type { SharedRates } from './quotas/shared-rates.ts';
import type { Scheduler } from './scheduler.ts';
import type { SharedDelays } from './shared-delays.ts';
import type { OpenedStores } from './stores.ts';
import type { UsageJournal } from './usage/usage-journal.ts';

/** The parts of a node that a cluster uses before it has a broker. */
export interface ClusterContext {
  readonly clock: Scheduler;
  readonly memory: MemoryBudget;
  readonly log: Log;
  readonly streams: StreamDeclarations | undefined;
  /** The register of this process alone: an engine that has none begins with it. */
  readonly tenants: TenantStore | undefined;
  /** How long members of rooms stay whose process has died. */
  readonly presenceGraceSeconds: number;
}

/** A question of one process to another about its clients. */
export interface PeerRequest {
  /** Its id in the OpenAPI document, as `listClients`. */
  readonly operation: string;
  readonly tenant: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: string;
  /** Of a list. */
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

/** The parts that it uses from then on. */
export interface ClusterNode {
  readonly broker: Broker;
  readonly timers: Timers;
  /** Answers another process. */
  answer(request: PeerRequest): Promise<ApiAnswer>;
  /** The list of bans is this one now. Resolves when the clients that it names for the first time have been ended. */
  bansChanged(bans: readonly Ban[]): Promise<void>;
  /** Another process has changed a tenant of the register. Resolves when that is in force here. */
  tenantChanged(name: string, json: string | undefined): Promise<void>;
  /** Ends the sessions of a tenant that another process removes. */
  clearTenant(tenant: string): Promise<void>;
  /** The bridges and rules that one process at a time runs are this one's. May be called again. */
  lead(): void;
  /** Queues of rules at this process, which messages of other processes fill as well. Undefined: there are none. */
  readonly backlog: Backlog | undefined;
  /** Queues of rules at another process: publishers of such messages are to send them again later. */
  fullElsewhere(process: string, filters: readonly TenantFilter[]): void;
  /** Another process is asked for the usage of all. Resolves when that of this one is in the journal. */
  saveUsage(): Promise<void>;
  /** Sessions of another process are here now: ends those that are banned. */
  enforceBans(): Promise<void>;
  /** Serves a client that is connected to another process: the socket carries its WebSocket. */
  accept(peer: Peer, socket: Duplex): void;
}

/** A client that another process serves. */
export interface ForwardedClient {
  readonly peer: Peer;
  readonly socket: Socket;
  /** Bytes that have been read from the socket. */
  readonly read: readonly Buffer[];
}

/** A cluster that this process is a part of. */
export interface Cluster extends ApiPeers {
  /** For people: as `apus@web-1:4711`. */
  readonly nodeName: string;
  readonly opened: OpenedStores;
  readonly fanOut: FanOut;
  /** Which process tells the watchers of each room, and about how many of them others have. */
  readonly rooms: Pick<Required<Presence>, 'hand' | 'audienceOf'> & {
    /** The tick of a room that this process tells. */
    tick(tenant: string, room: string): Promise<void>;
  };
  /** Of all processes. */
  readonly usage: UsageJournal;
  /** Of `$delayed/SECONDS/TOPIC`. */
  readonly delays: SharedDelays;
  /** The register of all processes; undefined where none was given. */
  readonly tenants: TenantStore | undefined;
  /** Resolves when the other processes have ended the sessions of a tenant that is removed. */
  readonly tellClear: (tenant: string) => Promise<void>;
  /** Of what holders have at all processes. */
  readonly holdings: SharedHoldings;
  /** Of what they spend at all processes. */
  readonly rates: SharedRates;
  /** Of the streams that all processes have. */
  readonly feed: StreamFeed;
  /** Takes part from now on: to be called before the first client is let in. */
  start(node: ClusterNode): Promise<void>;
  /** Another process is known to be dead: its sessions are taken over now, and not when its lease is over. */
  gone(name: string): Promise<void>;
  /** The list of bans has changed in its store. Resolves when all processes have it, and have ended the clients that it names. */
  readonly tellBans: () => Promise<void>;
  /**
   * The process that has the sessions of this client. Undefined: this one, or none; at once where that is known.
   *
   * @throws {Unavailable} when they are on their way from one process to another for too long
   */
  homeOf(clientId: string): Promise<string | undefined> | undefined;
  /**
   * The same for a CONNECT of the client: where no other process has it, this one does until `leaveClient` is called, and
   * CONNECTs of the client to other processes are passed on to it.
   */
  takeClient(clientId: string): Promise<string | undefined> | undefined;
  /** That CONNECT has been handled: the client is this process's as long as it has a session here. */
  leaveClient(clientId: string): void;
  forward(home: string, client: ForwardedClient): void;
  /** Ends the connections of clients that others serve. */
  endForwarded(): void;
}

/** Joins a cluster: `apus serve --cluster` brings the one over Valkey. */
export type OpenCluster = (context: ClusterContext) => Promise<Cluster>;
