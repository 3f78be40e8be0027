import type { Clock } from '../model/clock.ts';
import type { Conflation } from '../model/conflation.ts';

import type { AuthenticationMethod, Authenticator, Authorizer, ChangedRights } from './authentication.ts';
import type { Bans } from './bans.ts';
import type { Conditions } from './conditions.ts';
import type { ConflatedGroups } from './conflated.ts';
import type { Connections } from './connections.ts';
import type { DelayedMessages } from './delayed-messages.ts';
import type { DeliveryQuota, WriteQuota } from './delivery-quota.ts';
import type { Drops } from './drops.ts';
import type { FanOut } from './fan-out.ts';
import type { HoldingQuota } from './holding-quota.ts';
import type { Log } from './log.ts';
import type { Memory } from './memory.ts';
import type { Outbox } from './outbox.ts';
import type { Outlet } from './outlet.ts';
import type { PayloadCheck } from './payloads.ts';
import type { Presence } from './presence.ts';
import type { QueueStore, ReceivedStore } from './queues.ts';
import type { RetainedStore } from './retained.ts';
import type { SessionStore } from './sessions.ts';
import type { Streams } from './streams.ts';
import type { SubscriptionStore } from './subscriptions.ts';
import type { Timers } from './timers.ts';

/** The ports that a store package provides. */
export interface Stores {
  readonly sessions: SessionStore;
  readonly subscriptions: SubscriptionStore;
  readonly retained: RetainedStore;
  readonly queues: QueueStore;
  readonly received: ReceivedStore;
}

/** Everything that the broker needs from outside. */
export interface Ports extends Stores {
  readonly connections: Connections;
  /** Workers that serve shards. Absent if `SubscriptionStore.match` returns all subscribers. */
  readonly fanOut?: FanOut;
  /** Gathers the messages of an event. Absent if each message is delivered in the call that brings it. */
  readonly outbox?: Outbox;
  /** Absent if no message goes to another system. */
  readonly outlet?: Outlet;
  /** Absent if messages cannot be delayed. */
  readonly delays?: DelayedMessages;
  /** Absent if a publisher may cause any number of deliveries. */
  readonly deliveryQuota?: DeliveryQuota;
  /** Absent if drops are not counted. */
  readonly drops?: Drops;
  /** Absent if writes cost nothing. */
  readonly writeQuota?: WriteQuota;
  /** Absent if an identity may hold any number of connections, sessions and subscriptions. */
  readonly holdingQuota?: HoldingQuota;
  /** Absent if the stores are not in this process. */
  readonly memory?: Memory;
  /** Absent if no streams are declared. */
  readonly streams?: Streams;
  /** Absent if any payload may be published. */
  readonly payloads?: PayloadCheck;
  /** Absent if there are no rooms. */
  readonly presence?: Presence;
  /** The node's name in `$SYS/brokers/NODE/clients/…`. Absent: nothing is published about clients that come and go. */
  readonly nodeName?: string;
  readonly timers: Timers;
  /** Shared by all doors of the process. Absent if the process ends with the call: then nothing is conflated. */
  readonly conflation?: Conflation;
  /** For streams that processes share. Absent if `conflation` holds messages, or nothing is conflated. */
  readonly conflated?: ConflatedGroups;
  /** Absent if no subscription may have a condition. */
  readonly conditions?: Conditions | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly authenticator: Authenticator;
  /** By Authentication Method name. */
  readonly authenticationMethods: ReadonlyMap<string, AuthenticationMethod>;
  readonly authorizer: Authorizer;
  /** Absent if subscriptions end in the turn of the event loop in which their rules change. */
  readonly changedRights?: ChangedRights;
  /** Absent if there are no bans. */
  readonly bans?: Bans;
  /** A short random identifier, unique for all practical purposes. */
  readonly randomId: () => string;
}

export type * from './authentication.ts';
export type * from './bans.ts';
export type * from './conditions.ts';
export type * from './conflated.ts';
export type * from './connections.ts';
export type * from './delayed-messages.ts';
export type * from './delivery-quota.ts';
export type * from './drops.ts';
export type * from './fan-out.ts';
export type * from './holding-quota.ts';
export type * from './links.ts';
export type * from './log.ts';
export type * from './memory.ts';
export type * from './outbox.ts';
export type * from './outlet.ts';
export type * from './payloads.ts';
export type * from './presence.ts';
export type * from './queues.ts';
export type * from './retained.ts';
export type * from './sessions.ts';
export { NEVER_EXPIRES } from './sessions.ts';
export type * from './streams.ts';
export type * from './subscriptions.ts';
export type * from './timers.ts';
export { ConnectionLost, Unavailable } from './unavailable.ts';
