import {
  type Authenticator,
  type Authorizer,
  type BrokerLimits,
  type Clock,
  type Connections,
  createBroker,
  DEFAULT_LIMITS,
  type Log,
  type Timers,
} from '@apus/broker';
import { createDynamoStores, type DynamoOptions, type DynamoStores } from '@apus/store-dynamodb';
import { endNow, sendAhead } from '../after.ts';
import { SharedDeliveryQuota } from '../delivery-quota.ts';
import type { Environment } from '../environment.ts';
import { createEnvironment, createRouteHandlers, type Handlers } from '../handlers.ts';
import { Liveness } from '../liveness.ts';
import { LivenessSessions } from '../liveness-sessions.ts';
import { type Meter, NO_METER } from '../meter.ts';
import { CONNECTION_SECONDS_MAX, gatewayBrokerOptions } from '../options.ts';
import type { Poster } from '../poster.ts';
import type { QueuedFanOut } from '../queued-fan-out.ts';
import { ReceivedAfterFlush } from '../received-after-flush.ts';
import type { SqsTimers } from '../sqs-timers.ts';
import type { TokenVerifier } from '../tokens/token-verifier.ts';
import { WillsAfterFlush } from '../wills-after-flush.ts';

/** What the functions of a deployment share; a test gives the emulators' clients, clock and randomness. */
export interface CloudOptions {
  readonly dynamo: DynamoOptions['client'];
  readonly tableName: string;
  readonly fanOut: QueuedFanOut;
  readonly timers: Timers;
  /** Where connections that hold a will have a timer that looks after them. @default they wait for the sweep */
  readonly livenessTimers?: SqsTimers;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly randomId: () => string;
  readonly log: Log;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly tokens?: TokenVerifier;
  readonly limits?: Partial<BrokerLimits>;
  /** Deliveries that one publisher may cause; above 0. @default any number */
  readonly deliveriesPerMinuteMax?: number | undefined;
  /** @default nobody counts */
  readonly meter?: Meter;
  /** @default 'one' */
  readonly overlapping?: 'one' | 'each';
  readonly stores?: Partial<DynamoOptions>;
}

/** One execution environment: the stores, the broker over them, and the routes of the WebSocket API. */
export interface Cloud {
  readonly stores: DynamoStores;
  readonly environment: Environment;
  readonly routes: Handlers;
  /** For the function of the timer queue. Present where it has timers. */
  readonly liveness: Liveness | undefined;
}

/** Puts the cloud's broker together. Everything that can be done before the first event is done here. */
export function composeCloud(options: CloudOptions): Cloud {
  const { clock, sleep, random, randomId, poster, fanOut, log, tokens } = options;
  const stores = createDynamoStores({
    client: options.dynamo,
    tableName: options.tableName,
    shards: 'leave',
    connectionSecondsMax: CONNECTION_SECONDS_MAX,
    clock,
    sleep,
    random,
    randomId,
    beforeWaiting: async ({ attachment }) => {
      if (attachment !== undefined) await sendAhead(environment, attachment.connectionId);
    },
    endUncertain: async ({ attachment }) => {
      const { connections } = environment;
      // To the connection whose frame this is nobody else's reply is under way, and its own comes first.
      if (attachment === undefined || attachment.connectionId === connections.current?.id) return false;
      await endNow(environment, attachment.connectionId);
      return true;
    },
    ...options.stores,
  });
  const received = new ReceivedAfterFlush(stores.received);
  const wills = new WillsAfterFlush(stores.sessions);
  const { livenessTimers, deliveriesPerMinuteMax, meter = NO_METER } = options;
  const liveness =
    livenessTimers && new Liveness({ environment: () => environment, timers: livenessTimers, clock, log });
  const sessions = liveness === undefined ? wills : new LivenessSessions(wills, liveness);
  const brokerOptions = gatewayBrokerOptions({
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    overlapping: options.overlapping ?? 'one',
    responseInformation: undefined,
    ephemeralSessionsKeep: 'nothing',
    lossGraceSeconds: 0,
  });
  const deliveryQuota =
    deliveriesPerMinuteMax &&
    new SharedDeliveryQuota({
      deliveriesPerMinuteMax,
      accounts: stores.deliveryAccounts,
      shards: stores.subscriptions,
      clock,
      log,
      meter,
    });
  const makeBroker = (connections: Connections) =>
    createBroker(
      {
        ...stores,
        sessions,
        received,
        fanOut,
        ...(deliveryQuota && { deliveryQuota }),
        connections,
        timers: options.timers,
        clock,
        log,
        randomId,
        authenticator: options.authenticator,
        authenticationMethods: new Map(),
        authorizer: options.authorizer,
      },
      brokerOptions,
    );
  const handlerOptions = {
    links: stores.links,
    poster,
    clock,
    log,
    meter,
    makeBroker,
    maximumPacketSize: brokerOptions.limits.maximumPacketSize,
    fanOut,
    doneAfterFlush: [received, wills],
    frameReader: stores,
    ...(tokens !== undefined && { tokens }),
  };
  const environment: Environment = createEnvironment(handlerOptions);
  return { stores, environment, routes: createRouteHandlers(environment, tokens), liveness };
}
