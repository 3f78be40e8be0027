import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { StreamFeed } from '@apus/broker';
import {
  type Cluster,
  type ClusterContext,
  type ClusterNode,
  type ForwardedClient,
  NODE_NAME,
  type PeerRequest,
} from '@apus/node';
import { Bus, heirFrames, messagesOf } from './bus.ts';
import { compareConfigurations } from './compare-configurations.ts';
import { ClusterFanOut } from './fan-out.ts';
import { findHome } from './find-home.ts';
import type { Frame } from './frames.ts';
import { type FullRules, fullRulesOf } from './full-rules.ts';
import { GivenBack } from './given-back.ts';
import { createRooms, type Joined, type JoinOptions, openStreams, shareCounts } from './joined.ts';
import { Lease } from './lease.ts';
import { LEAVING_ROOMS_MS_MAX } from './limits.ts';
import { OwnRoutes } from './own-routes.ts';
import { Questions } from './questions.ts';
import { ClusterQueues } from './queues.ts';
import { Relay } from './relay.ts';
import { RemoteRoutes } from './remote-routes.ts';
import type { ClusterRooms } from './rooms.ts';
import { ClusterSessions } from './sessions.ts';
import { ShareChoice } from './share-choice.ts';
import { SharedBans } from './shared-bans.ts';
import type { SharedCounts } from './shared-counts.ts';
import { SharedQueues } from './shared-queues.ts';
import { SharedTenants } from './shared-tenants.ts';
import { SharedUsage } from './shared-usage.ts';
import {
  Claims,
  Configurations,
  createValkeyStores,
  Duties,
  type Engine,
  LEASE_MS,
  Membership,
  StoredRoutes,
  ValkeyBans,
  ValkeyDelays,
  ValkeyPresence,
  ValkeyRates,
  type ValkeyStreams,
  ValkeyTenants,
  ValkeyUsage,
} from './store/index.ts';
import { ClusterSubscriptions } from './subscriptions.ts';
import { BRIDGES, TakeOver } from './take-over.ts';
import { type Others, tellAll } from './tell-all.ts';
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
  readonly tellBans = () => this.#joined.bans.tell();
  readonly tellClear = (tenant: string) => tellAll(this.#joined.others, { type: 'clear', tenant });
  readonly #joined: Joined;
  readonly #claims: Claims;
  readonly #duties: Duties;
  readonly #storedRoutes: StoredRoutes;
  readonly #bus: Bus;
  readonly #choice = new ShareChoice();
  readonly #remote = new RemoteRoutes();
  readonly #own: OwnRoutes;
  readonly #relay: Relay;
  readonly #sessions: ClusterSessions;
  readonly #questions: Questions;
  readonly #lease: Lease;
  readonly #queues: SharedQueues;
  #takeOver: TakeOver | undefined;
  readonly #givenBack: GivenBack;
  #fullRules: FullRules | undefined;
  #tunnels: Tunnels | undefined;
  #node: ClusterNode | undefined;
  #isStopped = false;

  static async join(
    engine: Engine,
    context: ClusterContext,
    { isFirst, streamBytesMax }: JoinOptions,
  ): Promise<EngineCluster> {
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
    return new EngineCluster({
      ...{ engine, membership, stores, others, bans, tenants, context, streamBytesMax, failed, fail },
    });
  }

  private constructor(joined: Joined) {
    const { engine, membership, stores, others, context, fail } = joined;
    const { clock, log } = context;
    const { bus } = others;
    this.#joined = joined;
    this.tenants = joined.tenants;
    this.#bus = bus;
    this.#claims = new Claims(engine, membership.me);
    this.#duties = new Duties(engine, membership);
    this.#storedRoutes = new StoredRoutes(engine, membership);
    this.#questions = new Questions(bus, clock);
    this.#lease = new Lease({
      ...context,
      membership,
      fail,
      adopt: async (dead) => await this.#takeOver?.adopt(dead),
    });
    this.#queues = new SharedQueues({ ...context, membership, bus });
    const streams = openStreams(joined);
    const presence = new ValkeyPresence(engine, membership, stores.sessions);
    this.#own = new OwnRoutes(
      this.#storedRoutes,
      bus,
      membership.me,
      (tenant, filter) => stores.subscriptions.members(tenant, filter),
      clock,
    );
    this.feed = new StreamFeed((tenant, topic) => stores.subscriptions.match(tenant, topic));
    this.rooms = createRooms(joined, presence, this.#remote);
    this.#givenBack = new GivenBack(bus, clock, log);
    this.fanOut = new ClusterFanOut(bus, this.#remote, this.#choice, this.#givenBack);
    this.#storedUsage = new ValkeyUsage(engine, membership);
    this.usage = new SharedUsage(this.#storedUsage, others);
    this.rates = new ValkeyRates(engine);
    this.delays = new ValkeyDelays(engine, membership);
    this.holdings = shareCounts(joined);
    this.#relay = new Relay(stores.subscriptions, this.fanOut, (from, frame, deliver) =>
      this.#fullRules === undefined ? deliver() : this.#fullRules.inherit(from, frame, deliver),
    );
    this.#sessions = new ClusterSessions(
      stores.sessions,
      this.#claims,
      stores.subscriptions,
      this.#own,
      clock,
    );
    this.opened = this.#openedWith(presence, streams);
  }

  #openedWith(presenceStore: ValkeyPresence, streamStore: ValkeyStreams): Cluster['opened'] {
    const { stores, bans, context, failed } = this.#joined;
    const subscriptions = new ClusterSubscriptions(
      stores.subscriptions,
      this.#own,
      this.#remote,
      this.#choice,
      context.streams,
    );
    return {
      stores: {
        sessions: this.#sessions,
        subscriptions,
        queues: new ClusterQueues(stores.queues, this.#relay),
        received: stores.received,
        retained: stores.retained,
        presenceStore,
        streamStore,
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
    const { membership, stores, others, bans, context, fail } = this.#joined;
    this.rooms.start(node);
    this.#node = node;
    this.#fullRules = fullRulesOf(node, others, this.fanOut);
    this.#takeOver = new TakeOver(
      {
        ...{ membership, stores, fail, log: context.log, sessions: this.#sessions },
        ...{ own: this.#own, relay: this.#relay, bus: this.#bus, claims: this.#claims },
        ...{ holdings: this.holdings, rooms: this.rooms, usage: this.#storedUsage, duties: this.#duties },
        forget: (dead) => this.#forget(dead),
      },
      node,
    );
    this.#tunnels = new Tunnels(this.#bus, (...client) => node.accept(...client));
    for (const [process, routes] of await this.#storedRoutes.load()) {
      if (process === this.me) continue;
      this.#remote.change(
        process,
        Array.from(routes, ([route, value]) => [route, value === '1'] as const),
        [],
      );
    }
    bans.start((changed) => node.bansChanged(changed));
    this.tenants?.start((name, json) => node.tenantChanged(name, json));
    await this.#bus.start((from, frame) => this.#handle(node, from, frame));
    await this.#queues.start();
    await this.#lease.start();
    if (await this.#duties.take(BRIDGES)) node.lead();
  }

  get me(): string {
    return this.#joined.membership.me;
  }

  async others(): Promise<readonly string[]> {
    return (await this.#joined.membership.all()).filter((name) => name !== this.me);
  }

  ask(name: string, request: PeerRequest) {
    return this.#questions.ask(name, request);
  }

  homeOf(clientId: string): Promise<string | undefined> | undefined {
    if (this.#sessions.has(clientId)) return undefined;
    return findHome(() => this.#claims.find(clientId), this.#joined.context.clock);
  }

  takeClient(clientId: string): Promise<string | undefined> | undefined {
    return this.#sessions.take(clientId);
  }

  leaveClient(clientId: string): void {
    this.#sessions.leave(clientId);
  }

  forward(home: string, client: ForwardedClient): void {
    this.#tunnels?.forward(home, client);
  }

  async gone(name: string): Promise<void> {
    await this.#joined.membership.end(name);
    await this.#lease.renew();
  }

  endForwarded(): void {
    this.#tunnels?.stop();
  }

  /** Resolves when the frame has had its effect. A frame that has it at once is noted. */
  #handle(node: ClusterNode, from: string, frame: Frame): Promise<void> | undefined {
    switch (frame.type) {
      case 'publish':
        return this.#fullRules?.giveBack(from, frame) ?? this.#relay.publish(node.broker, from, frame);
      case 'heir':
        return this.#relay.inherit(node.broker, from, frame.process, frame.messages, frame.isLast);
      case 'bans':
        return this.#joined.bans.read();
      case 'usage':
        return node.saveUsage();
      case 'tenant':
        return this.tenants?.told(frame.name);
      case 'clear':
        return node.clearTenant(frame.tenant);
      case 'room':
        return this.rooms.asked(frame.tenant, frame.room);
      default:
        this.#note(node, from, frame);
        return undefined;
    }
  }

  #note(node: ClusterNode, from: string, frame: Frame): void {
    switch (frame.type) {
      case 'routes':
        this.#remote.change(from, frame.set, frame.removed);
        break;
      case 'dead':
        this.#dead(from, frame.process);
        break;
      case 'queues':
        this.#queues.told(from, frame.queues);
        break;
      case 'full':
        node.fullElsewhere(from, frame.filters);
        break;
      case 'spare':
        this.holdings.giveSpare(frame.count);
        break;
      case 'waits':
        this.#fullRules?.waits(from, frame.queue, frame.left, frame.givenUp);
        break;
      case 'ask':
        this.#answer(node, from, frame);
        break;
      case 'answer':
        this.#questions.answered(frame.id, frame.answer);
        break;
      case 'leaving':
        void this.#lease.renew();
        break;
      default:
        if (!this.fanOut.handle(from, frame)) this.#tunnels?.handle(from, frame);
    }
  }

  /** The answer of this process may come later than other frames. */
  #answer(node: ClusterNode, from: string, frame: Extract<Frame, { type: 'ask' }>): void {
    this.#questions
      .answer(from, frame, (request) => node.answer(request))
      .catch((error: unknown) => {
        const { operation } = frame.request;
        this.#joined.context.log.error('peer-not-answered', { operation, error: String(error) });
      });
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
      this.#joined.context.log.warn('cluster-not-left', { error: String(error) });
    }
    this.#bus.stop();
    this.holdings.stop();
    this.#own.stop();
    this.#joined.engine.close();
  }

  async #leave(): Promise<void> {
    await this.rooms.allTold(LEAVING_ROOMS_MS_MAX);
    await this.#joined.stores.close();
    for (const process of await this.#joined.membership.expire())
      this.#bus.send(process, { type: 'leaving' });
    await this.#bus.flushed();
  }
}
