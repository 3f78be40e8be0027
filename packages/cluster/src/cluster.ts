import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Log, StreamFeed } from '@apus/broker';
import {
  type Cluster,
  type ClusterContext,
  type ClusterNode,
  type ForwardedClient,
  NODE_NAME,
  type PeerRequest,
} from '@apus/node';
import {
  Claims,
  Configurations,
  createValkeyStores,
  Duties,
  type Engine,
  HeldCounts,
  LEASE_MS,
  Membership,
  StoredRoutes,
  ValkeyBans,
  ValkeyDelays,
  ValkeyPresence,
  ValkeyRates,
  type ValkeyStores,
  ValkeyStreams,
  ValkeyTenants,
  ValkeyUsage,
} from '@apus/store-valkey';
import { Bus, heirFrames, messagesOf } from './bus.ts';
import { compareConfigurations } from './compare-configurations.ts';
import { keepUp } from './connect-engine.ts';
import { ClusterFanOut } from './fan-out.ts';
import { findHome } from './find-home.ts';
import type { Frame } from './frames.ts';
import { type FullRules, fullRulesOf } from './full-rules.ts';
import { GivenBack } from './given-back.ts';
import { Lease } from './lease.ts';
import { LEAVING_ROOMS_MS_MAX } from './limits.ts';
import { OwnRoutes } from './own-routes.ts';
import { Questions } from './questions.ts';
import { ClusterQueues } from './queues.ts';
import { Relay } from './relay.ts';
import { RemoteRoutes } from './remote-routes.ts';
import { ClusterRooms, subscriberCount } from './rooms.ts';
import { ClusterSessions } from './sessions.ts';
import { ShareChoice } from './share-choice.ts';
import { SharedBans } from './shared-bans.ts';
import { SharedCounts } from './shared-counts.ts';
import { SharedQueues } from './shared-queues.ts';
import { SharedTenants } from './shared-tenants.ts';
import { SharedUsage } from './shared-usage.ts';
import { ClusterSubscriptions } from './subscriptions.ts';
import { BRIDGES, TakeOver } from './take-over.ts';
import { type Others, sendAll, tellAll } from './tell-all.ts';
import { EngineTransport } from './transport.ts';
import { Tunnels } from './tunnels.ts';
import { within } from './within.ts';

/** One process of a cluster. */
export class EngineCluster implements Cluster {
  readonly opened: Cluster['opened'];
  readonly fanOut: ClusterFanOut;
  readonly feed: StreamFeed;
  readonly rooms: ClusterRooms;
  readonly holdings: SharedCounts;
  readonly rates: ValkeyRates;
  readonly tenants: SharedTenants | undefined;
  readonly delays: ValkeyDelays;
  readonly usage: SharedUsage;
  readonly #storedUsage: ValkeyUsage;
  readonly nodeName = `${NODE_NAME}@${hostname()}:${process.pid}`;
  readonly tellBans = () => this.#bans.tell();
  readonly tellClear = (tenant: string) => tellAll(this.#others, { type: 'clear', tenant });
  readonly #engine: Engine;
  readonly #membership: Membership;
  readonly #claims: Claims;
  readonly #duties: Duties;
  readonly #storedRoutes: StoredRoutes;
  readonly #stores: ValkeyStores;
  readonly #bus: Bus;
  readonly #others: Others;
  readonly #remote = new RemoteRoutes();
  readonly #own: OwnRoutes;
  readonly #relay: Relay;
  readonly #sessions: ClusterSessions;
  readonly #bans: SharedBans;
  readonly #questions: Questions;
  readonly #context: ClusterContext;
  readonly #log: Log;
  readonly #fail: (error: Error) => void;
  readonly #lease: Lease;
  readonly #queues: SharedQueues;
  #takeOver: TakeOver | undefined;
  readonly #givenBack: GivenBack;
  #fullRules: FullRules | undefined;
  #tunnels: Tunnels | undefined;
  #node: ClusterNode | undefined;
  #isStopped = false;

  static async join(engine: Engine, context: ClusterContext, isFirst: boolean): Promise<EngineCluster> {
    const membership = new Membership(engine, randomBytes(9).toString('base64url'));
    if (isFirst) await membership.endAll();
    let fail: (error: Error) => void = () => {};
    const failed = new Promise<Error>((resolve) => {
      fail = resolve;
    });
    const { clock, memory, log } = context;
    const stores = await createValkeyStores({ engine, membership, clock, memory, onFailure: fail });
    const bus = new Bus(new EngineTransport(engine, membership.me), membership.me, clock, log);
    await compareConfigurations(new Configurations(engine, membership), context);
    const others: Others = { bus, membership, clock };
    const bans = await SharedBans.open(new ValkeyBans(engine, membership, clock), others);
    const tenants =
      context.tenants &&
      (await SharedTenants.open(new ValkeyTenants(engine, membership), context.tenants, others, log));
    return new EngineCluster(engine, membership, stores, others, bans, tenants, context, failed, fail);
  }

  private constructor(
    engine: Engine,
    membership: Membership,
    stores: ValkeyStores,
    others: Others,
    bans: SharedBans,
    tenants: SharedTenants | undefined,
    context: ClusterContext,
    failed: Promise<Error>,
    fail: (error: Error) => void,
  ) {
    const { me } = membership;
    const { bus } = others;
    this.#others = others;
    this.tenants = tenants;
    this.#engine = engine;
    this.#membership = membership;
    this.#stores = stores;
    this.#context = context;
    this.#log = context.log;
    this.#fail = fail;
    this.#claims = new Claims(engine, me);
    this.#duties = new Duties(engine, membership);
    this.#storedRoutes = new StoredRoutes(engine, membership);
    this.#bus = bus;
    this.#bans = bans;
    this.#questions = new Questions(bus, context.clock);
    this.#lease = new Lease({
      ...context,
      membership,
      fail,
      adopt: async (dead) => await this.#takeOver?.adopt(dead),
    });
    this.#queues = new SharedQueues({ ...context, membership, bus });
    const streams = new ValkeyStreams(engine, membership);
    if (context.streams !== undefined) keepUp(streams, engine, context.log);
    const presence = new ValkeyPresence(engine, membership, stores.sessions);
    const choice = new ShareChoice();
    this.#own = new OwnRoutes(
      this.#storedRoutes,
      this.#bus,
      me,
      (tenant, filter) => stores.subscriptions.members(tenant, filter),
      context.clock,
    );
    this.feed = new StreamFeed((tenant, topic) => stores.subscriptions.match(tenant, topic));
    this.rooms = new ClusterRooms({
      ...{ store: presence, bus, me, log: context.log, clock: context.clock },
      graceSeconds: context.presenceGraceSeconds,
      subscribersHere: (tenant, topic) => subscriberCount(stores.subscriptions.match(tenant, topic)),
      processesWith: (tenant, topic) => this.#remote.processesWith(tenant, topic).size,
    });
    this.#givenBack = new GivenBack(bus, context.clock, context.log);
    this.fanOut = new ClusterFanOut(this.#bus, this.#remote, choice, this.#givenBack);
    this.#storedUsage = new ValkeyUsage(engine, membership);
    this.usage = new SharedUsage(this.#storedUsage, others);
    this.rates = new ValkeyRates(engine);
    this.delays = new ValkeyDelays(engine, membership);
    this.holdings = new SharedCounts(
      new HeldCounts(engine, membership),
      stores.sessions.holdings,
      context.clock,
      context.log,
      (count) => void sendAll(others, { type: 'spare', count }).catch(() => {}),
    );
    engine.onReconnect(() => this.holdings.reaffirm());
    this.#relay = new Relay(stores.subscriptions, this.fanOut, (from, frame, deliver) =>
      this.#fullRules === undefined ? deliver() : this.#fullRules.inherit(from, frame, deliver),
    );
    this.#sessions = new ClusterSessions(
      stores.sessions,
      this.#claims,
      stores.subscriptions,
      this.#own,
      context.clock,
    );
    this.opened = {
      stores: {
        sessions: this.#sessions,
        subscriptions: new ClusterSubscriptions(
          stores.subscriptions,
          this.#own,
          this.#remote,
          choice,
          context.streams,
        ),
        queues: new ClusterQueues(stores.queues, this.#relay),
        received: stores.received,
        retained: stores.retained,
        presenceStore: presence,
        streamStore: streams,
      },
      bans: bans.list,
      banStore: bans.store,
      dueTimers: [],
      lastMessageId: undefined,
      failed,
      close: () => this.#close(),
    };
  }

  async start(node: ClusterNode): Promise<void> {
    this.rooms.start(node);
    this.#node = node;
    this.#fullRules = fullRulesOf(node, this.#others, this.fanOut);
    this.#takeOver = new TakeOver(
      {
        ...{ membership: this.#membership, stores: this.#stores, sessions: this.#sessions },
        ...{ own: this.#own, relay: this.#relay, bus: this.#bus, claims: this.#claims },
        ...{ holdings: this.holdings, rooms: this.rooms, usage: this.#storedUsage, duties: this.#duties },
        ...{ log: this.#log, fail: this.#fail, forget: (dead) => this.#forget(dead) },
      },
      node,
    );
    this.#tunnels = new Tunnels(this.#bus, (peer, socket) => node.accept(peer, socket));
    for (const [process, routes] of await this.#storedRoutes.load()) {
      if (process === this.#membership.me) continue;
      this.#remote.change(
        process,
        Array.from(routes, ([route, value]) => [route, value === '1'] as const),
        [],
      );
    }
    this.#bans.start((bans) => node.bansChanged(bans));
    this.tenants?.start((name, json) => node.tenantChanged(name, json));
    await this.#bus.start((from, frame) => this.#handle(node, from, frame));
    await this.#queues.start();
    await this.#lease.start();
    if (await this.#duties.take(BRIDGES)) node.lead();
  }

  get me(): string {
    return this.#membership.me;
  }

  async others(): Promise<readonly string[]> {
    return (await this.#membership.all()).filter((name) => name !== this.me);
  }

  ask(name: string, request: PeerRequest) {
    return this.#questions.ask(name, request);
  }

  homeOf(clientId: string): Promise<string | undefined> | undefined {
    if (this.#sessions.has(clientId)) return undefined;
    return findHome(() => this.#claims.find(clientId), this.#context.clock);
  }

  takeClient(clientId: string): Promise<string | undefined> | undefined {
    return this.#sessions.take(clientId);
  }

  leaveClient(clientId: string): void {
    this.#sessions.leave(clientId);
  }

  forward(home: string, { peer, socket, read }: ForwardedClient): void {
    this.#tunnels?.forward(home, peer, socket, read);
  }

  async gone(name: string): Promise<void> {
    await this.#membership.end(name);
    await this.#lease.renew();
  }

  endForwarded(): void {
    this.#tunnels?.stop();
  }

  #handle(node: ClusterNode, from: string, frame: Frame): Promise<void> | undefined {
    switch (frame.type) {
      case 'publish':
        return this.#fullRules?.giveBack(from, frame) ?? this.#relay.publish(node.broker, from, frame);
      case 'routes':
        this.#remote.change(from, frame.set, frame.removed);
        return undefined;
      case 'dead':
        this.#dead(from, frame.process);
        return undefined;
      case 'heir':
        return this.#relay.inherit(node.broker, from, frame.process, frame.messages, frame.isLast);
      case 'bans':
        return this.#bans.read();
      case 'usage':
        return node.saveUsage();
      case 'tenant':
        return this.tenants?.told(frame.name);
      case 'clear':
        return node.clearTenant(frame.tenant);
      case 'queues':
        this.#queues.told(from, frame.queues);
        return undefined;
      case 'full':
        node.fullElsewhere(from, frame.filters);
        return undefined;
      case 'spare':
        this.holdings.giveSpare(frame.count);
        return undefined;
      case 'waits':
        this.#fullRules?.waits(from, frame.queue, frame.left, frame.givenUp);
        return undefined;
      case 'room':
        return this.rooms.asked(frame.tenant, frame.room);
      case 'ask':
        void this.#questions
          .answer(from, frame, (request) => node.answer(request))
          .catch((error: unknown) =>
            this.#log.error('peer-not-answered', {
              operation: frame.request.operation,
              error: String(error),
            }),
          );
        return undefined;
      case 'answer':
        this.#questions.answered(frame.id, frame.answer);
        return undefined;
      case 'leaving':
        void this.#lease.renew();
        return undefined;
      default:
        if (!this.fanOut.handle(from, frame)) this.#tunnels?.handle(from, frame);
        return undefined;
    }
  }

  /**
   * Another process has taken over the sessions of a dead one: it gets the frames that the dead one has not
   * acknowledged.
   */
  #dead(heir: string, dead: string): void {
    const frames = this.#forget(dead);
    const sent = heirFrames(dead, messagesOf(frames)).map((frame) => this.#bus.request(heir, frame));
    const inherited = Promise.all(sent).then(() => {});
    for (const { frame, resolve } of frames)
      if (messagesOf([{ frame }]).length === 0) resolve();
      else void inherited.then(resolve);
  }

  #forget(dead: string) {
    this.#remote.removeProcess(dead);
    this.#tunnels?.lost(dead);
    this.#relay.lost(dead);
    this.#queues.forget(dead);
    this.#fullRules?.forget(dead);
    this.#node?.fullElsewhere(dead, []);
    const unacknowledged = this.#bus.forget(dead);
    const known = new Set(messagesOf(unacknowledged).map(({ message }) => message.id));
    return [...unacknowledged, ...this.fanOut.forget(dead, known)];
  }

  /** Another process takes over the sessions of this one at once; if there is none, the next one that starts does. */
  async #close(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#lease.stop();
    this.#queues.stop();
    this.#fullRules?.stop();
    this.#givenBack.stop();
    try {
      await within(LEASE_MS, this.#leave());
    } catch (error) {
      this.#log.warn('cluster-not-left', { error: String(error) });
    }
    this.#bus.stop();
    this.holdings.stop();
    this.#own.stop();
    this.#engine.close();
  }

  async #leave(): Promise<void> {
    await this.rooms.allTold(LEAVING_ROOMS_MS_MAX);
    await this.#stores.close();
    for (const process of await this.#membership.expire()) this.#bus.send(process, { type: 'leaving' });
    await this.#bus.flushed();
  }
}
