import { isDeepStrictEqual } from 'node:util';
import {
  type Awaitable,
  type Broker,
  createBroker,
  createProcessState,
  DEFAULT_LIMITS,
  type Delivery,
  type Link,
  type LinkState,
  type Message,
  type Outbox,
  type Ports,
  type ProcessState,
  type Routed,
  Unavailable,
} from '@apus/broker';
import type { Packet, QoS, Will } from '@apus/mqtt';
import type { DynamoStores, EventKind, EventStores, Units } from '@apus/store-dynamodb';

/** The replies to a frame, and the units that the frame consumed. */
export interface Handled {
  readonly replies: readonly Packet[];
  readonly units: Units;
}

interface DoorEvent {
  readonly broker: Broker;
  readonly stores: EventStores;
  readonly commit: () => Promise<boolean>;
}

const OPTIONS = {
  limits: { ...DEFAULT_LIMITS, topicAliasMaximum: 0 },
  overlapping: 'one',
  responseInformation: undefined,
  ephemeralSessionsKeep: 'nothing',
  endsRefusedRepetitions: true,
  lossGraceSeconds: 5,
} as const;

/** Sent to a client whose frame met a store that is not available. */
const DISCONNECTED = { type: 'disconnect', reasonCode: 0x97, properties: {} } as const;

const randomId = () => Math.random().toString(36).slice(2);

/** A gateway door without a gateway: it loads the connection, hands the packets to the broker, and saves it. */
export class Door {
  readonly stores: DynamoStores;
  readonly tenant: string;
  readonly published: { message: Message; deliveries: readonly Delivery[] }[] = [];
  readonly #now: () => number;
  readonly #state: ProcessState;

  constructor(stores: DynamoStores, tenant: string, now: () => number) {
    this.stores = stores;
    this.tenant = tenant;
    this.#now = now;
    this.#state = createProcessState({ clock: { now }, randomId });
  }

  /** One frame. The topics of its PUBLISHes are known before it is handled. */
  async frame(connectionId: string, ...packets: readonly Packet[]): Promise<Handled> {
    const before = this.stores.meter.units;
    const topicNames = packets.flatMap((packet) => (packet.type === 'publish' ? [packet.topic] : []));
    const isReplyWanted = !packets.every(({ type }) => type === 'puback' || type === 'pubcomp');
    const replies = await this.#event(
      { connectionId, looksAtEnd: true, isReplyWanted, isOnePacket: packets.length === 1 },
      async ({ broker, stores, commit }) => {
        await stores.readAhead({ connectionId, tenant: this.tenant, topicNames });
        const state: LinkState = (await stores.links.load(connectionId)) ?? { phase: 'new' };
        const { link, replies } = makeLink(connectionId, state);
        for (const packet of packets) await broker.receive(link, packet);
        if (stores.takeDrainDue()) await broker.drain(link);
        const isStored = await commit();
        if (!isStored) return [DISCONNECTED];
        const isAsLoaded = isDeepStrictEqual(link.state, state);
        if (isAsLoaded && packets.some(({ type }) => type === 'subscribe'))
          await stores.links.load(connectionId);
        else if (link.state.phase === 'closed') await stores.links.end(connectionId);
        else if (!isAsLoaded) await stores.links.save(connectionId, link.state);
        return replies;
      },
    );
    return { replies, units: this.stores.meter.since(before) };
  }

  /** The network connection ends: the tombstone, and what MQTT says of it. */
  async lose(connectionId: string): Promise<Units> {
    const before = this.stores.meter.units;
    const state = await this.stores.links.end(connectionId);
    if (state !== undefined)
      await this.#event({}, async ({ broker, commit }) => {
        await broker.lost(makeLink(connectionId, state).link, 'lost');
        await commit();
      });
    return this.stores.meter.since(before);
  }

  async connect(
    connectionId: string,
    clientId: string,
    fields: { cleanStart?: boolean; expiry?: number; will?: Will } = {},
  ) {
    const { cleanStart = true, expiry, will } = fields;
    return await this.frame(connectionId, {
      type: 'connect',
      protocolVersion: 5,
      clientId,
      cleanStart,
      keepAliveSeconds: 60,
      ...(will !== undefined && { will }),
      properties: expiry === undefined ? {} : { sessionExpiryInterval: expiry },
    } as Packet);
  }

  async subscribe(connectionId: string, filters: readonly string[], qos: QoS = 1): Promise<Handled> {
    return await this.frame(connectionId, {
      type: 'subscribe',
      packetId: 1,
      subscriptions: filters.map((topicFilter) => ({
        topicFilter,
        qos,
        noLocal: false,
        retainAsPublished: false,
        retainHandling: 0,
      })),
      properties: {},
    } as Packet);
  }

  /** Does something with a broker of its own. `commit` is false where a store was not available. */
  async #event<T>(kind: EventKind, does: (event: DoorEvent) => Promise<T>): Promise<T> {
    const stores = this.stores.forEvent(kind);
    const routed: Routed[] = [];
    const afterwards: (() => Awaitable<void>)[] = [];
    const outbox: Outbox = {
      add: (each) => void routed.push(each),
      flush: async (topic) => {
        if (routed.some(({ message }) => message.topic === topic)) await commit();
      },
      look: (each) => void afterwards.push(each),
      whenLeft: (each) => void afterwards.push(each),
    };
    const broker = createBroker({ ...this.#ports(stores), outbox }, OPTIONS, this.#state);
    const commit = async () => {
      try {
        await stores.commit();
        while (routed.length > 0) {
          const sent = await broker.deliverAll(routed.splice(0));
          for (const connectionId of sent.uncertain) await this.lose(connectionId);
          await broker.append(sent);
          await stores.commit();
        }
        for (const each of afterwards) await each();
        return true;
      } catch (error) {
        if (error instanceof Unavailable) return false;
        throw error;
      }
    };
    return await does({ broker, stores, commit });
  }

  #ports({ sessions, subscriptions, retained, queues, received }: EventStores): Ports {
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    return {
      ...{ sessions, subscriptions, retained, queues, received, log },
      connections: {
        isReady: () => true,
        publish: (message, deliveries) => {
          this.published.push({ message, deliveries: [...deliveries] });
          return undefined;
        },
        send: () => true,
        close: async (connectionId) => {
          await this.stores.links.end(connectionId);
        },
      },
      timers: { set: () => {}, cancel: () => {} },
      clock: { now: this.#now },
      authenticator: { authenticate: ({ clientId }) => ({ tenant: this.tenant, name: clientId }) },
      authenticationMethods: new Map(),
      authorizer: { mayPublish: () => true, maySubscribe: () => true },
      randomId,
    };
  }
}

export function publishOf(
  topic: string,
  fields: { qos?: QoS; payload?: string; packetId?: number } = {},
): Packet {
  const { qos = 0, payload = 'payload', packetId = qos === 0 ? 0 : 1 } = fields;
  return {
    type: 'publish',
    topic,
    payload: Buffer.from(payload),
    qos,
    retain: false,
    dup: false,
    packetId,
    properties: {},
  };
}

function makeLink(id: string, state: LinkState): { link: Link; replies: Packet[] } {
  const replies: Packet[] = [];
  const link: Link = {
    id,
    peer: { address: 'test' },
    state,
    roomBytes: () => 100_000,
    send: (packet) => replies.push(packet),
    close: () => {},
  };
  return { link, replies };
}
