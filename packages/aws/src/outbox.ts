import type {
  Awaitable,
  Broker,
  Outbox as BrokerOutbox,
  ConnectionId,
  LinkStore,
  Routed,
} from '@apus/broker';
import { deliverySpan, type Span } from '@apus/door';
import { GatewayConnections } from './connections/gateway-connections.ts';
import { endFailed, movedTo } from './connections/lose.ts';
import type { Environment, EventKind, EventStores } from './environment.ts';
import { GatheredJobs } from './fan-out/gathered-jobs.ts';
import { PacketsOut } from './frames/packets-out.ts';
import { NUDGE } from './frames/text-frame.ts';
import { DirectPosts, PARALLEL_POSTS_MAX } from './posts/direct-posts.ts';
import { type FailedPost, GatheredPosts, logFailedPost, type Sender } from './posts/gathered-posts.ts';
import { inLanes } from './posts/lanes.ts';
import type { Poster, PostOutcome } from './posts/poster.ts';
import { RuleOutlet } from './rules/rule-outlet.ts';
import { countedPoster, EventUsage } from './usage/event-usage.ts';

/**
 * Rounds of sending that one event may cause: the will of a lost connection can find another lost connection, and a
 * copy for a share group is passed on eight times at most.
 */
const ROUNDS_MAX = 12;

/**
 * Runs a function as one event. When this resolves, all its effects have left. When it rejects, none of them counts as
 * done.
 */
export async function inOneEvent<T>(
  environment: Environment,
  does: (outbox: Outbox) => Promise<T> | T,
): Promise<T> {
  const outbox = new Outbox(environment);
  let done: T;
  try {
    done = await does(outbox);
  } catch (error) {
    await outbox.abandon();
    outbox.usage?.handOver();
    throw error;
  }
  await outbox.commit();
  outbox.usage?.handOver();
  return done;
}

/**
 * The effects of one event (a frame, a disconnect, a timer, a slice of a job): made when the event begins, passed
 * along, and committed at its end. No client is answered before the commit. `commit` takes these steps:
 *
 * 1. The recipients' records decide, once for each session, on all messages of the event. Connections whose delivery
 *    state is unknown are closed.
 * 2. Messages for rules and jobs for wide filters go to their queues; the messages that a record took are posted.
 *    Connections that miss a message are closed.
 * 3. Messages that wait are appended to the logs, and clients that do not know it are told to fetch.
 * 4. The event looks for what others have changed meanwhile. What it tells of that takes these steps as well.
 * 5. Then the event's marks are written: a QoS 2 message counts as delivered, a will as published.
 */
export class Outbox implements BrokerOutbox {
  readonly broker: Broker;
  /** The states of connections, with those that this event has read ahead. */
  readonly links: LinkStore;
  readonly poster: Poster;
  readonly connections: GatewayConnections;
  readonly posts: GatheredPosts;
  /** Jobs for workers. Absent if no filter has workers. */
  readonly jobs: GatheredJobs | undefined;
  /** Messages for rules. Absent if there are no rules. */
  readonly outlet: RuleOutlet | undefined;
  /** Packets for the connection whose frame is handled. They leave with its reply. */
  readonly reply = new PacketsOut();
  /** Absent if the stores are in this process. */
  readonly stores: EventStores | undefined;
  /** Absent if usage is not counted. The event hands it over at its end. */
  readonly usage: EventUsage | undefined;
  readonly #environment: Environment;
  #routed: Routed[] = [];
  #looks: (() => Awaitable<void>)[] = [];
  #marks: (() => Awaitable<void>)[] = [];
  /** Spans of messages that have not left. */
  #spans: Span[] = [];

  /** @param sender posts the gathered frames. @default directly */
  constructor(environment: Environment, kind: EventKind = {}, sender?: Sender) {
    const { log, meter, links, clock, fanOut, rules, makeBroker, defaultTenant } = environment;
    this.#environment = environment;
    this.usage = environment.usage && new EventUsage(environment.usage, defaultTenant);
    const poster = this.usage ? countedPoster(environment.poster, this.usage) : environment.poster;
    this.poster = poster;
    this.posts = new GatheredPosts(sender ?? new DirectPosts(poster, log, meter));
    this.jobs = fanOut && new GatheredJobs(fanOut);
    this.outlet = rules && new RuleOutlet(rules);
    const own = kind.connectionId === undefined ? undefined : { id: kind.connectionId, out: this.reply };
    this.connections = new GatewayConnections({ posts: this.posts, own, poster, links, clock });
    const { broker, stores } = makeBroker(this, kind);
    this.broker = broker;
    this.stores = stores;
    this.links = stores?.links ?? links;
  }

  add(routed: Routed): void {
    this.usage?.isOf(routed.deliveries[0]?.session.tenant);
    this.#routed.push(routed);
    const { tracer } = this.#environment;
    const span = tracer && deliverySpan(tracer, routed.message, routed.deliveries);
    if (span !== undefined) this.#spans.push(span);
  }

  async flush(topic: string): Promise<void> {
    if (this.#routed.some(({ message }) => message.topic === topic)) await this.commit();
  }

  look(looks: () => Awaitable<void>): void {
    this.#looks.push(looks);
  }

  whenLeft(does: () => Awaitable<void>): void {
    this.#marks.push(does);
  }

  /**
   * Rejects when a store or a queue is unavailable. Then the client gets no acknowledgement, and effects that could
   * not leave are dropped.
   */
  async commit(): Promise<void> {
    try {
      await this.stores?.commit();
      while (await this.#sendAll()) {
        const looks = this.#looks.splice(0);
        const steps = looks.length > 0 ? looks : this.#marks.splice(0);
        if (steps.length === 0) break;
        await Promise.all(steps.map((step) => step()));
      }
      this.#dropSteps();
      for (const span of this.#spans.splice(0)) span.end();
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  /**
   * The event has failed: its unfinished work does not count as done. A message that has a place in a window is still
   * posted; unposted, it would keep the place until its connection ends.
   */
  async abandon(): Promise<void> {
    this.#routed = [];
    this.#dropSteps();
    for (const span of this.#spans.splice(0)) span.end({ 'error.type': 'unavailable' });
    this.jobs?.drop();
    this.outlet?.drop();
    await this.#post();
  }

  #dropSteps(): void {
    this.#looks = [];
    this.#marks = [];
  }

  /** Closes a connection whose delivery state is unknown. */
  async lose(connectionId: ConnectionId): Promise<void> {
    await this.#loseAll([connectionId]);
    await this.commit();
  }

  async #sendAll(): Promise<boolean> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) if (await this.#send()) return true;
    this.#environment.log.warn('lost-connections-left', { rounds: ROUNDS_MAX });
    return false;
  }

  /** One round. True: everything has left, and nothing more was gathered. */
  async #send(): Promise<boolean> {
    const routed = this.#routed;
    this.#routed = [];
    const sent = routed.length === 0 ? undefined : await this.broker.deliverAll(routed);
    if (sent !== undefined) await this.#loseAll(sent.uncertain);
    await this.outlet?.flush();
    await this.jobs?.flush();
    const failed = await this.#post();
    if (sent !== undefined) {
      if (sent.waiting.length > 0) await this.posts.hasLeft(sent.waiting);
      const { uncertain, unannounced } = await this.broker.append(sent);
      await this.#loseAll(uncertain);
      await this.#announce(unannounced);
      // Writes that a message was given up that is too large for its client.
      await this.stores?.commit();
    }
    return failed.length === 0 && this.#routed.length === 0 && this.posts.isEmpty;
  }

  /** Posts the gathered packets; if a session moves meanwhile, to its new connection. Returns the failed posts. */
  async #post(): Promise<readonly FailedPost[]> {
    const failed: FailedPost[] = [];
    for (let round = 0; round < ROUNDS_MAX && !this.posts.isEmpty; round += 1) {
      const some = await this.posts.flush();
      await this.#end(some);
      failed.push(...some);
    }
    return failed;
  }

  async #loseAll(connectionIds: readonly ConnectionId[]): Promise<void> {
    await this.#end(connectionIds.flatMap((connectionId) => this.posts.lose(connectionId) ?? []));
  }

  async #end(failed: readonly FailedPost[]): Promise<void> {
    for (const failure of failed) await endFailed(this, failure);
  }

  /** Tells clients to fetch. A client that cannot be told learns it from the next message, or by the sweep. */
  async #announce(connectionIds: readonly ConnectionId[]): Promise<void> {
    await inLanes(PARALLEL_POSTS_MAX, connectionIds, async (connectionId) => {
      if ((await this.#nudge(connectionId)) !== 'gone') return;
      const to = movedTo(await this.links.load(connectionId));
      if (to !== undefined) await this.#nudge(to);
    });
  }

  async #nudge(connectionId: ConnectionId): Promise<PostOutcome> {
    const outcome = await this.poster.post(connectionId, NUDGE, true);
    if (outcome !== 'sent')
      logFailedPost(this.#environment.log, { connectionId, outcome, isLoss: false, packets: 0 });
    return outcome;
  }
}
