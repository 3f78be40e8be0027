import {
  type Broker,
  createBroker,
  DEFAULT_LIMITS,
  type Delivery,
  type Link,
  type LinkState,
  type Message,
  type Ports,
} from '@apus/broker';
import type { Packet, QoS, Will } from '@apus/mqtt';
import type { DynamoStores, Units } from '@apus/store-dynamodb';

/** What was sent to other connections, and what a frame consumed. */
export interface Handled {
  readonly replies: readonly Packet[];
  readonly units: Units;
}

/** A gateway door without a gateway: it loads the connection, hands the packets to the broker, and saves it. */
export class Door {
  readonly stores: DynamoStores;
  readonly tenant: string;
  readonly published: { message: Message; deliveries: readonly Delivery[] }[] = [];
  readonly #broker: Broker;

  constructor(stores: DynamoStores, tenant: string, now: () => number) {
    this.stores = stores;
    this.tenant = tenant;
    this.#broker = createBroker(this.#ports(now), {
      limits: { ...DEFAULT_LIMITS, topicAliasMaximum: 0 },
      overlapping: 'one',
      responseInformation: undefined,
      ephemeralSessionsKeep: 'nothing',
      lossGraceSeconds: 5,
    });
  }

  /** One frame. The topics of its PUBLISHes are known before it is handled. */
  async frame(connectionId: string, ...packets: readonly Packet[]): Promise<Handled> {
    const before = this.stores.meter.units;
    const topicNames = packets.flatMap((packet) => (packet.type === 'publish' ? [packet.topic] : []));
    const isReplyWanted = !packets.every(({ type }) => type === 'puback' || type === 'pubcomp');
    const plan = { connectionId, tenant: this.tenant, topicNames, looksAtEnd: true, isReplyWanted };
    await this.stores.beginFrame(plan);
    const state: LinkState = (await this.stores.links.load(connectionId)) ?? { phase: 'new' };
    const { link, replies } = makeLink(connectionId, state);
    for (const packet of packets) await this.#broker.receive(link, packet);
    if (this.stores.takeOwedLook()) await this.#broker.drain(link);
    await this.stores.commitFrame();
    if (link.state !== state) {
      if (link.state.phase === 'closed') await this.stores.links.end(connectionId);
      else await this.stores.links.save(connectionId, link.state);
    }
    this.stores.endFrame();
    return { replies, units: this.stores.meter.since(before) };
  }

  /** The network connection ends: the tombstone, and what MQTT says of it. */
  async lose(connectionId: string): Promise<Units> {
    const before = this.stores.meter.units;
    const state = await this.stores.links.end(connectionId);
    if (state !== undefined) await this.#broker.lost(makeLink(connectionId, state).link, 'lost');
    return this.stores.meter.since(before);
  }

  /** The will's timer rings. */
  async ringWill(connectionId: string, clientId: string): Promise<Units> {
    const record = await this.stores.sessions.get(this.tenant, clientId);
    if (record === undefined) throw new Error('expected a session');
    const before = this.stores.meter.units;
    await this.#broker.ring({ kind: 'will', session: record.session, connectionId });
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

  #ports(now: () => number): Ports {
    const { sessions, subscriptions, retained, queues, received } = this.stores;
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
      clock: { now },
      authenticator: { authenticate: ({ clientId }) => ({ tenant: this.tenant, name: clientId }) },
      authenticationMethods: new Map(),
      authorizer: { mayPublish: () => true, maySubscribe: () => true },
      randomId: () => Math.random().toString(36).slice(2),
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
