import { NODE_NAME } from '@apus/api';
import type { Ports, Presence, Streams } from '@apus/broker';
import type { FrameQuota } from '@apus/door';
import { tokenMethods } from '@apus/identity';
import type { DynamoStores } from '@apus/store-dynamodb';
import type { Liveness } from '../connections/liveness.ts';
import { NO_METER } from '../metrics/meter.ts';
import { Audiences } from '../quotas/audiences.ts';
import { SharedDeliveryQuota } from '../quotas/delivery-quota.ts';
import { SharedFrameQuota } from '../quotas/frame-quota.ts';
import { SharedHoldingQuota } from '../quotas/holding-quota.ts';
import { SharedMessageQuota } from '../quotas/message-quota.ts';
import { SharedWriteQuota } from '../quotas/write-quota.ts';
import { ConflationTicks } from '../timers/conflation-ticks.ts';
import { SqsDelayedMessages } from '../timers/delayed-messages.ts';
import { RoomTicks } from '../timers/room-ticks.ts';
import type { CloudOptions } from './cloud-options.ts';

type QuotaPorts = Pick<Ports, 'deliveryQuota' | 'writeQuota' | 'holdingQuota'>;
type TimerPorts = Pick<Ports, 'timers' | 'delays' | 'conflated'>;

/** Rooms, and the ticks at which their watchers are told. */
export interface Rooms {
  readonly presence: Presence;
  readonly ticks: RoomTicks;
}

/** Undefined where the owner has declared no streams. */
export function createStreams({ streams }: CloudOptions, stores: DynamoStores): Streams | undefined {
  return streams && { declared: streams.declared, store: stores.streams, isShared: true };
}

/** The quotas of the options, counted in the stores. */
export class Quotas {
  readonly ports: QuotaPorts;
  /** Undefined where there are no quotas. */
  readonly holding: SharedHoldingQuota | undefined;
  readonly frames: FrameQuota | undefined;

  constructor({ quotas, clock, log, meter = NO_METER }: CloudOptions, stores: DynamoStores) {
    if (quotas === undefined) {
      this.ports = {};
      return;
    }
    const shared = { quotas, accounts: stores.quotaAccounts, clock, log, meter };
    const messages = new SharedMessageQuota(shared);
    this.holding = new SharedHoldingQuota({ quotas, holdings: stores.quotaHoldings, clock });
    this.frames = new SharedFrameQuota(shared, messages);
    this.ports = {
      deliveryQuota: new SharedDeliveryQuota({ ...shared, shards: stores.subscriptions, messages }),
      writeQuota: new SharedWriteQuota(shared),
      holdingQuota: this.holding,
    };
  }
}

/** The ports that all events of an environment share. */
export function createPorts(
  options: CloudOptions,
  stores: DynamoStores,
  quotas: Quotas,
  streams: Streams | undefined,
  rooms: Rooms | undefined,
) {
  const { clock, log, randomId, authenticator, authorizer, tokens, payloads } = options;
  const methods = tokens === undefined ? [] : tokenMethods(tokens);
  return {
    ...(rooms && { presence: rooms.presence, nodeName: NODE_NAME }),
    ...(payloads && { payloads }),
    ...quotas.ports,
    ...(streams && { streams }),
    ...timerPorts(options, stores, streams),
    ...{ clock, log, randomId, authenticator, authorizer },
    authenticationMethods: new Map(methods.map((method) => [method.name, method])),
    bans: stores.bans,
  };
}

/** Delayed and conflated messages wait in the queue of the timers: without one the deployment has neither. */
function timerPorts(
  { timers, livenessTimers, clock, randomId }: CloudOptions,
  { conflatedGroups: groups }: DynamoStores,
  streams: Streams | undefined,
): TimerPorts {
  if (livenessTimers === undefined) return { timers };
  const delays = new SqsDelayedMessages(livenessTimers);
  if (streams === undefined) return { timers, delays };
  const conflated = new ConflationTicks({ groups, timers: livenessTimers, clock, randomId });
  return { timers, delays, conflated };
}

/** Rooms, their ticks, and a look after the connections of their members, whose watchers wait for them to leave. */
export function createRooms(
  { presence: store, subscriptions }: DynamoStores,
  liveness: Liveness | undefined,
  { livenessTimers, clock }: CloudOptions,
): Rooms {
  if (livenessTimers === undefined || liveness === undefined)
    throw new Error('the ticks of rooms are timers, and there are none');
  const ticks = new RoomTicks(store, livenessTimers, clock);
  const audiences = new Audiences(subscriptions, clock);
  const presence: Presence = {
    store,
    ticks,
    isListedByRoom: true,
    audienceOf: (filter) => audiences.of(filter),
    begins: async (session) => {
      if (session.attachment !== undefined) await liveness.arm(session, session.attachment.connectionId);
    },
  };
  return { presence, ticks };
}
