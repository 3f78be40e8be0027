import { NODE_NAME } from '@apus/api';
import {
  BanList,
  type Broker,
  type Conditions,
  Conflation,
  createBroker,
  type DueTimer,
  type Peer,
  type Ports,
} from '@apus/broker';
import {
  BanKeeper,
  createTrafficMeter,
  DELAYED_LIMITS,
  KeptMessages,
  LinkConnections,
  LoadedConditions,
  LocalDelayedMessages,
  LocalTimers,
  meteredBroker,
  meteredConnections,
  PresenceTicker,
  RateQuota,
  UsersChanges,
} from '@apus/door';
import { type ComposedStores, composeStores, GatedWriter } from '@apus/store-disk';
import { IDENTITY_QUEUES_SHARE, LocalHoldingQuota, MemoryBudget } from '@apus/store-memory';
import { AlarmClock, awakeScheduler } from './alarm-clock.ts';
import type { HubSources } from './api/facts.ts';
import { HubApi } from './api/hub-api.ts';
import type { ApiNote } from './front-note.ts';
import type { HandshakeOptions } from './handshake.ts';
import { HubDrops } from './hub-drops.ts';
import { HubTimers } from './hub-timers.ts';
import { HubUsage } from './hub-usage.ts';
import { HubUsers } from './hub-users.ts';
import { WILL_GRACE_SECONDS } from './limits.ts';
import { HubLinks } from './links/hub-links.ts';
import { KeepAlive } from './links/keep-alive.ts';
import { type HubOptions, type ResolvedHub, resolveHub } from './options.ts';
import type { ObjectSocket, ObjectState } from './platform.ts';
import { HubKind } from './storage/layout.ts';
import { Records } from './storage/records.ts';

/** Queues of a tenant have half of the memory, and those of an identity their share of that, as at a node. */
function memoryBudget({ limits, quotas }: ResolvedHub): MemoryBudget {
  const { memoryBytesMax } = limits;
  const queues = limits.tenantQueueBytesMax || memoryBytesMax / 2;
  const { queuedBytesMax } = quotas.identity;
  const ofIdentity = queuedBytesMax === 0 ? Number.POSITIVE_INFINITY : queues * IDENTITY_QUEUES_SHARE;
  return new MemoryBudget(memoryBytesMax, queues, Math.min(queuedBytesMax || ofIdentity, ofIdentity));
}

const NOW = Promise.resolve();

/** The broker of one tenant, in one object. */
export class Hub {
  readonly broker: Broker;
  readonly stores: ComposedStores;
  readonly #state: ObjectState;
  readonly #resolved: ResolvedHub;
  readonly #writer: GatedWriter;
  readonly #links: HubLinks;
  readonly #alarm: AlarmClock;
  readonly #keepAlive: KeepAlive;
  readonly #delays: LocalDelayedMessages;
  readonly #timers: HubTimers;
  readonly #memory: MemoryBudget;
  readonly #bans: BanList;
  readonly #drops: HubDrops;
  readonly #rates: RateQuota;
  readonly #usage: HubUsage;
  readonly #users: HubUsers;
  readonly #usersChanges: UsersChanges;
  readonly #meter = createTrafficMeter();
  readonly #wokenAtMs: number;
  readonly #conditions: LoadedConditions;
  #api: HubApi | undefined;
  #isScheduled = false;

  /**
   * Reads everything from the storage. Links whose sockets are still there go on.
   *
   * @param alarmAtMs when the alarm of the object is set to go off
   * @param conditions loaded, where `hasConditions`
   */
  constructor(
    state: ObjectState,
    options: HubOptions,
    alarmAtMs: number | null,
    conditions = new LoadedConditions(),
  ) {
    this.#state = state;
    const records = new Records(state.storage);
    this.#users = new HubUsers(records);
    this.#resolved = resolveHub(options, this.#users);
    this.#conditions = conditions;
    const { limits, log, streams } = this.#resolved;
    this.#alarm = new AlarmClock(state.storage, alarmAtMs, () => this.#schedule());
    this.#links = new HubLinks(records, {
      limits,
      settle: () => this.#schedule(),
      quiet: () => log.tell(),
    });
    const saved = this.#links.read(state.getWebSockets());
    this.#writer = new GatedWriter(
      (operations) => records.commit(operations),
      () => this.#schedule(),
    );
    const memory = memoryBudget(this.#resolved);
    this.#memory = memory;
    this.#wokenAtMs = this.#alarm.now();
    this.stores = composeStores({
      ...{ content: records, writer: this.#writer, clock: this.#alarm, memory, streams },
      willGraceSeconds: WILL_GRACE_SECONDS,
      written: 'all',
      living: (connectionId) => this.#links.living(connectionId),
    });
    this.#delays = new LocalDelayedMessages({
      kept: new KeptMessages(this.stores.retained, 'delayed', DELAYED_LIMITS),
      ...{ clock: this.#alarm, log, quotas: this.#resolved.quotas.identity },
    });
    this.#bans = new BanList(this.#alarm, this.stores.banStore.all());
    this.#rates = new RateQuota(this.#resolved.quotas, this.#alarm);
    const local = new LocalTimers(this.#alarm, (due) => void this.#fire(due));
    this.#timers = new HubTimers(local, this.#writer);
    this.#drops = new HubDrops({ clock: this.#alarm, writer: this.#writer, quietMs: limits.quietMs });
    this.#drops.read(records, this.stores);
    const { authorizer } = this.#resolved.access;
    this.#usersChanges = new UsersChanges(this.stores.sessions, authorizer, this.#alarm, log);
    this.broker = meteredBroker(createBroker(this.#ports(memory), this.#resolved.broker), this.#meter);
    if (this.stores.lastMessageId !== undefined) this.broker.messageClock.observe(this.stores.lastMessageId);
    this.#keepAlive = new KeepAlive({
      ...{ clock: this.#alarm, log, connectTimeoutSeconds: limits.connectTimeoutSeconds },
      all: () => this.#links.all(),
    });
    this.#usage = new HubUsage({
      ...{ clock: this.#alarm, records, writer: this.#writer },
      kept: () => this.#kept(),
    });
    this.#links.open(saved, this.stores, {
      ...{ broker: this.broker, clock: this.#alarm, log, limits, memory, meter: this.#meter },
      ...{ writer: this.#writer, rates: this.#rates, usage: this.#usage },
      watch: (link) => this.#keepAlive.watch(link),
    });
    this.#timers.restore(this.stores.dueTimers, records);
    void this.#delays.start(this.broker);
    this.#schedule();
  }

  /** For requests to connect. */
  get handshake(): HandshakeOptions {
    const { access, allowedOrigins } = this.#resolved;
    return { allowedOrigins, handshakes: access.handshakes };
  }

  /** Whether the address of a client is banned: it gets no socket. A ban of its name is told in CONNACK. */
  isBanned({ host }: Peer): boolean {
    return this.#bans.banOnHost(host) !== undefined;
  }

  /** A client has completed its handshake. */
  accepted(socket: ObjectSocket, peer: Peer): void {
    this.#links.accepted(socket, peer);
  }

  /** Makes a place for one more client, or returns false [SEC-PLACE-1]. */
  makePlace(): boolean {
    return this.#links.makePlace();
  }

  received(socket: ObjectSocket, data: ArrayBuffer | string): void {
    this.#alarm.runDue();
    this.#links.of(socket)?.received(data);
  }

  closed(socket: ObjectSocket, why: string): void {
    this.#alarm.runDue();
    this.#links.of(socket)?.closed(why);
  }

  /** Answers a request for the HTTP API. What it writes is committed before. */
  async answer(request: Request, note: ApiNote): Promise<Response> {
    this.#alarm.runDue();
    this.#api ??= new HubApi(this.#sources(), this.#bans, this.#resolved.log);
    const answer = await this.#api.answer(request, note);
    this.#settle();
    return answer;
  }

  alarmRang(): void {
    this.#alarm.rang();
    this.#alarm.runDue();
    this.#schedule();
  }

  #ports(memory: MemoryBudget): Ports {
    const { access, streams, quotas, log } = this.#resolved;
    const { authenticator, authorizer, authenticationMethods } = access;
    const { presenceStore, streamStore, sessions, subscriptions } = this.stores;
    const ticks: PresenceTicker = new PresenceTicker(awakeScheduler, log, (tenant, room) =>
      this.broker.tellRoom(tenant, room),
    );
    return {
      ...this.stores,
      ...{ memory, timers: this.#timers, log, authenticator, authorizer },
      connections: meteredConnections(new LinkConnections(this.#links, this.#alarm), this.#meter),
      presence: { store: presenceStore, ticks },
      ...(streams !== undefined && { streams: { declared: streams, store: streamStore } }),
      nodeName: NODE_NAME,
      drops: this.#drops,
      delays: this.#delays,
      bans: this.#bans,
      changedRights: this.#usersChanges,
      deliveryQuota: this.#rates,
      holdingQuota: new LocalHoldingQuota({
        ...{ quotas, quotasHere: quotas, holdings: sessions.holdings },
        weightOf: (session) => subscriptions.weight(session),
      }),
      conflation: new Conflation(awakeScheduler, memory),
      conditions: this.#notedConditions(),
      clock: this.#alarm,
      authenticationMethods: new Map(authenticationMethods.map((method) => [method.name, method])),
      randomId: () => crypto.randomUUID().slice(0, 18),
    };
  }

  /** Before the first condition is granted, a row says that the hub has some. */
  #notedConditions(): Conditions {
    const conditions = this.#conditions;
    let isNoted = conditions.isLoaded;
    return {
      fits: (where, message) => conditions.fits(where, message),
      get spent() {
        return conditions.spent;
      },
      check: (where) => {
        if (!isNoted) this.#writer.put(HubKind.Conditions, new Uint8Array());
        isNoted = true;
        return conditions.check(where);
      },
    };
  }

  *#kept(): Generator<readonly [tenant: string, bytes: number]> {
    const { sessions, retained } = this.stores;
    for (const tenant of new Set([...sessions.holdings.tenants(), ...retained.tenants()]))
      yield [tenant, retained.bytes(tenant) + this.#memory.queuedBytes(tenant)];
  }

  #sources(): HubSources {
    const { stores, broker } = this;
    const { log, streams, quotas, broker: options } = this.#resolved;
    const clock = this.#alarm;
    const [links, delays, store] = [this.#links, this.#delays, stores.banStore];
    return {
      ...{ nodeName: NODE_NAME, stores, links, broker, clock, streams, quotas },
      ...{ meter: this.#meter, drops: this.#drops, memory: this.#memory, rates: this.#rates },
      doorOf: () => 'object',
      bans: new BanKeeper({ list: this.#bans, ...{ store, stores, broker, links, clock, log, delays } }),
      payloads: undefined,
      planOf: () => undefined,
      uptimeMs: () => clock.now() - this.#wokenAtMs,
      usage: (question) => this.#usage.report(question),
      users: () => this.#users.table((owned, names) => this.#usersChanges.apply(broker, owned, names)),
      published: (tenant, payload) => {
        this.#usage.add(tenant, { messagesIn: 1, bytesIn: payload.length });
        this.#links.carryUsage();
      },
      limits: { ...options.limits, connectionsMax: this.#resolved.limits.connectionsMax },
    };
  }

  async #fire({ timer, dueAtMs }: DueTimer): Promise<void> {
    this.#timers.fired(timer);
    try {
      await this.broker.fire(timer, dueAtMs);
    } catch (error) {
      const { clientId } = timer.session;
      this.#resolved.log.error('timer-failed', { kind: timer.kind, clientId, error: String(error) });
    }
  }

  /** At the end of the present work of the object. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // The runtime's `queueMicrotask` takes several times as long.
    void NOW.then(() => this.#settle());
  }

  /** The writes are committed before any frame leaves. The runtime holds the frames until the commit is confirmed. */
  #settle(): void {
    this.#isScheduled = false;
    try {
      this.#usage.settle();
      this.#writer.flush();
    } catch (error) {
      this.#resolved.log.error('commit-failed', { error: String(error) });
      this.#state.abort('The storage has refused a commit');
      return;
    }
    this.#links.flush();
    this.#alarm.arm();
  }
}
