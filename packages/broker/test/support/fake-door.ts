import {
  type ConnectPacket,
  encodePublish,
  type Packet,
  type ProtocolVersion,
  type PublishPacket,
  type QoS,
  type SubscribePacket,
  Violation,
} from '@apus/mqtt';
import { createMemoryStores } from '@apus/store-memory';
import {
  type AuthenticationMethod,
  type Authenticator,
  type Authorizer,
  type Awaitable,
  type Bans,
  type Broker,
  type BrokerLimits,
  type BrokerOptions,
  type ChangedRights,
  type Conditions,
  Conflation,
  type Connections,
  createBroker,
  DEFAULT_LIMITS,
  type Delays,
  type Delivery,
  type DeliveryQuota,
  type Drops,
  type FailedPush,
  type FanOut,
  type Link,
  type LinkState,
  type Log,
  type Message,
  type Outlet,
  type PayloadCheck,
  type PresenceStore,
  type PresenceTicks,
  remainingSeconds,
  type Stores,
  type Streams,
  type Subscription,
  type Timer,
  type Timers,
} from '../../src/index.ts';

/** A network connection that exists only as the list of what was sent on it. */
export class FakeLink implements Link {
  readonly id: string;
  readonly peer = { address: '127.0.0.1:1', host: '127.0.0.1' };
  readonly #aliases = new Map<number, string>();
  readonly topicAliases = {
    get: (alias: number) => this.#aliases.get(alias),
    set: (alias: number, topic: string) => this.#aliases.set(alias, topic).has(alias),
  };
  readonly readers = new Map<string, Subscription>();
  state: LinkState = { phase: 'new' };
  isOpen = true;
  isReady = true;
  readonly #received: Packet[] = [];

  constructor(id: string) {
    this.id = id;
  }

  roomBytes(): number {
    return this.isReady ? Number.POSITIVE_INFINITY : 0;
  }

  /** How the door drains it, in its turn. */
  onDrainSoon = (): void => {};

  drainSoon(): void {
    this.onDrainSoon();
  }

  send(packet: Packet, _version: ProtocolVersion): void {
    if (this.isOpen) this.#received.push(packet);
  }

  close(): void {
    this.isOpen = false;
  }

  /** Takes everything the client has received since the last call. */
  take(): Packet[] {
    return this.#received.splice(0);
  }
}

/** Timers that fire when the test moves the clock. */
class FakeTimers implements Timers {
  readonly #due = new Map<string, { timer: Timer; dueAtMs: number }>();

  set(timer: Timer, dueAtMs: number): void {
    this.#due.set(nameOf(timer), { timer, dueAtMs });
  }

  cancel(timer: Timer): void {
    this.#due.delete(nameOf(timer));
  }

  /** The next timer that is due, which is then forgotten. */
  takeDue(nowMs: number): Timer | undefined {
    const [first] = [...this.#due]
      .filter(([, { dueAtMs }]) => dueAtMs <= nowMs)
      .sort((a, b) => a[1].dueAtMs - b[1].dueAtMs);
    if (first === undefined) return undefined;
    this.#due.delete(first[0]);
    return first[1].timer;
  }
}

function nameOf({ kind, session, connectionId }: Timer): string {
  return `${kind} ${session.key} ${connectionId}`;
}

export interface FakeDoorOptions extends Partial<Omit<BrokerOptions, 'limits'>> {
  readonly limits?: Partial<BrokerLimits>;
  readonly authenticator?: Authenticator;
  readonly authorizer?: Authorizer;
  readonly methods?: readonly AuthenticationMethod[];
  readonly deliveryQuota?: DeliveryQuota;
  readonly fanOut?: FanOut;
  readonly outlet?: Outlet;
  readonly payloads?: PayloadCheck;
  readonly drops?: Drops;
  readonly bans?: Bans;
  readonly changedRights?: ChangedRights;
  readonly streams?: Streams;
  /** @default no subscription may have one */
  readonly conditions?: Conditions;
  /** @default it conflates nothing */
  readonly delays?: Delays;
  /** Rooms, with these reminders of theirs. @default none */
  readonly ticks?: PresenceTicks;
  /** @default a link that keeps readers */
  readonly openLink?: (id: string) => FakeLink;
  /** Wraps the stores before the broker gets them, so that a test can fail in the middle of a call. */
  readonly wrap?: (stores: Stores) => Stores;
  /** Every port answers with a promise, as in the cloud. */
  readonly isAsync?: boolean;
}

const OPEN: Authorizer = { mayPublish: () => true, maySubscribe: () => true };
const ANYBODY: Authenticator = { authenticate: () => ({ tenant: 'default', name: '' }) };

/** A door without a network: a broker over the memory stores, a clock that the test moves, links that are lists. */
export class FakeDoor {
  readonly broker: Broker;
  readonly stores: Stores;
  nowMs = 1_700_000_000_000;
  /** What the broker has written at `warn`. */
  readonly warnings: [event: string, fields: Readonly<Record<string, unknown>>][] = [];
  readonly #links = new Map<string, FakeLink>();
  readonly #timers = new FakeTimers();
  readonly #openLink: (id: string) => FakeLink;
  #ids = 0;

  constructor(options: FakeDoorOptions = {}) {
    const {
      limits,
      authenticator,
      authorizer,
      methods,
      deliveryQuota,
      fanOut,
      outlet,
      payloads,
      drops,
      bans,
      changedRights,
      streams,
      conditions,
      delays,
      ticks,
      openLink = (id) => new FakeLink(id),
      wrap,
      isAsync = false,
      ...choices
    } = options;
    this.#openLink = openLink;
    const door = isAsync ? asynchronous : <T>(port: T) => port;
    const memory = createMemoryStores();
    const stores = wrap?.(memory) ?? memory;
    this.stores = {
      sessions: door(stores.sessions),
      subscriptions: door(stores.subscriptions),
      retained: door(stores.retained),
      queues: door(stores.queues),
      received: door(stores.received),
    };
    this.broker = createBroker(
      {
        ...this.stores,
        connections: this.#connections(),
        timers: this.#timers,
        clock: { now: () => this.nowMs },
        log: this.#log(),
        authenticator: authenticator ?? ANYBODY,
        authorizer: authorizer ?? OPEN,
        authenticationMethods: new Map((methods ?? []).map((method) => [method.name, method])),
        randomId: () => `id${++this.#ids}`,
        ...(deliveryQuota !== undefined && { deliveryQuota }),
        ...(fanOut !== undefined && { fanOut }),
        ...(outlet !== undefined && { outlet }),
        ...(payloads !== undefined && { payloads }),
        ...(drops !== undefined && { drops }),
        ...(bans !== undefined && { bans }),
        ...(changedRights !== undefined && { changedRights }),
        ...(streams !== undefined && { streams }),
        ...(conditions !== undefined && { conditions }),
        ...(delays !== undefined && { conflation: new Conflation(delays) }),
        ...(ticks !== undefined && { presence: { store: door<PresenceStore>(memory.presenceStore), ticks } }),
      },
      {
        overlapping: 'one',
        responseInformation: undefined,
        ephemeralSessionsKeep: 'everything',
        lossGraceSeconds: 0,
        ...choices,
        limits: { ...DEFAULT_LIMITS, ...limits },
      },
    );
  }

  #log(): Log {
    const nothing = () => {};
    const warn: Log['warn'] = (event, fields = {}) => void this.warnings.push([event, fields]);
    return { debug: nothing, info: nothing, warn, error: nothing };
  }

  open(): FakeLink {
    const link = this.#openLink(`connection-${++this.#ids}`);
    this.#links.set(link.id, link);
    return link;
  }

  /** The same connection as another process still sees it. */
  copy(link: FakeLink): FakeLink {
    const copy = new FakeLink(link.id);
    copy.state = link.state;
    return copy;
  }

  /** Opens a link and connects; the CONNACK is taken from the link. */
  async connect(connect: Partial<ConnectPacket> = {}): Promise<FakeLink> {
    const link = this.open();
    await this.broker.receive(link, connectPacket(connect));
    return link;
  }

  async subscribe(
    link: FakeLink,
    topicFilter: string,
    qos: QoS = 0,
    more: Partial<SubscribePacket> = {},
  ): Promise<void> {
    const subscription = {
      topicFilter,
      qos,
      noLocal: false,
      retainAsPublished: false,
      retainHandling: 0 as const,
    };
    await this.broker.receive(link, {
      type: 'subscribe',
      packetId: 1,
      subscriptions: [subscription],
      properties: {},
      ...more,
    });
  }

  async publish(
    link: FakeLink,
    topic: string,
    payload: string,
    more: Partial<PublishPacket> = {},
  ): Promise<void> {
    await this.broker.receive(link, publishPacket(topic, payload, more));
  }

  /** The network connection breaks. */
  async cut(link: FakeLink): Promise<void> {
    link.isOpen = false;
    this.#links.delete(link.id);
    await this.broker.lost(link, 'cut');
  }

  /** Sets a timer that a store has found when it was opened. */
  remind(timer: Timer, dueAtMs: number): void {
    this.#timers.set(timer, dueAtMs);
  }

  /** Moves the clock and fires the timers that became due, in order. */
  async advance(seconds: number): Promise<void> {
    this.nowMs += seconds * 1000;
    for (
      let timer = this.#timers.takeDue(this.nowMs);
      timer !== undefined;
      timer = this.#timers.takeDue(this.nowMs)
    ) {
      await this.broker.fire(timer);
    }
  }

  #connections(): Connections {
    return {
      isReady: (id) => this.#links.get(id)?.isReady ?? true,
      publish: (message, deliveries) => this.#publish(message, deliveries),
      send: (id, packet) => {
        this.#links.get(id)?.send(packet, 5);
        return this.#links.has(id);
      },
      close: (id, disconnect) => {
        const link = this.#links.get(id);
        if (disconnect !== undefined) link?.send(disconnect, 5);
        link?.close();
      },
    };
  }

  #publish(message: Message, deliveries: readonly Delivery[]): FailedPush[] | undefined {
    const failures: FailedPush[] = [];
    for (const delivery of deliveries) {
      const attachment = delivery.session.attachment;
      const link = attachment && this.#links.get(attachment.connectionId);
      if (attachment === undefined || link === undefined) {
        failures.push({ delivery, failure: 'gone' });
        continue;
      }
      const packet = packetOf(message, delivery, this.nowMs);
      const { length } = encodePublish(packet, attachment.protocolVersion).bytes;
      if (length > attachment.maximumPacketSize) failures.push({ delivery, failure: 'too-large' });
      else link.send(packet, attachment.protocolVersion);
    }
    return failures.length === 0 ? undefined : failures;
  }
}

function packetOf(message: Message, delivery: Delivery, nowMs: number): PublishPacket {
  const { subscriptionIdentifiers, qos, retain, dup, packetId } = delivery;
  return {
    type: 'publish',
    topic: message.topic,
    payload: message.payload,
    qos,
    retain,
    dup,
    packetId,
    properties: {
      ...message.properties,
      ...(message.expiresAtMs !== undefined && {
        messageExpiryInterval: Math.max(1, remainingSeconds(message.expiresAtMs, nowMs)),
      }),
      ...(subscriptionIdentifiers !== undefined && { subscriptionIdentifiers }),
    },
  };
}

export function connectPacket(connect: Partial<ConnectPacket> = {}): ConnectPacket {
  return {
    type: 'connect',
    protocolVersion: 5,
    cleanStart: true,
    keepAliveSeconds: 0,
    clientId: '',
    properties: {},
    ...connect,
  };
}

export function publishPacket(
  topic: string,
  payload: string,
  more: Partial<PublishPacket> = {},
): PublishPacket {
  return {
    type: 'publish',
    topic,
    payload: Buffer.from(payload),
    qos: 0,
    retain: false,
    dup: false,
    packetId: more.qos ? 1 : 0,
    properties: {},
    ...more,
  };
}

/** The same port, every method of which answers later. */
function asynchronous<T extends object>(port: T): T {
  return new Proxy(port, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<Awaitable<unknown>> => {
        await Promise.resolve();
        return method.apply(target, args);
      };
    },
  });
}

export { Violation };
