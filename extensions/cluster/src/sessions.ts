import type {
  Awaitable,
  DetachSession,
  EndSession,
  OpenedSession,
  OpenSession,
  SessionEnd,
  SessionRef,
  SessionStore,
} from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { JournaledStores } from '@apus/store-disk';
import { findHome } from './find-home.ts';
import { NotHere } from './not-here.ts';
import type { OwnRoutes } from './own-routes.ts';
import type { Claims } from './store/index.ts';

type Inner = JournaledStores['sessions'];
type Subscriptions = Pick<JournaledStores['subscriptions'], 'list'>;

/** CONNECTs of a client. */
interface Connecting {
  connects: number;
  /** This process has claimed the client, while one of its CONNECTs is under way. */
  isClaimed: boolean;
}

/**
 * The sessions of this process. It claims each client whose sessions it has, so that no other process opens one; the
 * claim ends with the last session of the client.
 */
export class ClusterSessions {
  readonly #inner: Inner;
  readonly #claims: Claims;
  readonly #subscriptions: Subscriptions;
  readonly #routes: OwnRoutes;
  readonly #clock: Scheduler;
  /** How many sessions each claimed client has: the same identifier is another client in each tenant. */
  readonly #counts = new Map<string, number>();
  /** CONNECTs under way here. Each keeps the claim of its client, with or without a session. */
  readonly #connecting = new Map<string, Connecting>();

  constructor(
    inner: Inner,
    claims: Claims,
    subscriptions: Subscriptions,
    routes: OwnRoutes,
    clock: Scheduler,
  ) {
    this.#inner = inner;
    this.#claims = claims;
    this.#subscriptions = subscriptions;
    this.#routes = routes;
    this.#clock = clock;
  }

  /** A session that this process has taken over with its claim. */
  adopted({ clientId }: SessionRef): void {
    this.#counts.set(clientId, (this.#counts.get(clientId) ?? 0) + 1);
  }

  has(clientId: string): boolean {
    return this.#counts.has(clientId);
  }

  /**
   * Claims the client for a CONNECT that is handled here, until `leave`. If the claim came after the CONNECT's other
   * work, another process might have claimed the client for an earlier CONNECT, and the client would be refused.
   *
   * @returns the process that has the client instead; then `leave` need not be called. Undefined: this one has it;
   *   without a promise if that is known
   * @throws {NotHere} if its sessions move from one process to another for too long
   */
  take(clientId: string): Promise<string | undefined> | undefined {
    const connecting = this.#connecting.get(clientId) ?? { connects: 0, isClaimed: false };
    connecting.connects += 1;
    this.#connecting.set(clientId, connecting);
    if (this.#counts.has(clientId)) connecting.isClaimed = true;
    return connecting.isClaimed ? undefined : this.#claim(clientId, connecting);
  }

  /** The CONNECT for which the client was taken has been handled. */
  leave(clientId: string): void {
    const connecting = this.#connecting.get(clientId);
    if (connecting === undefined) return;
    connecting.connects -= 1;
    if (connecting.connects === 0) this.#connecting.delete(clientId);
    this.#release(clientId);
  }

  open(request: OpenSession): Awaitable<OpenedSession | 'owned-by-another'> {
    const { clientId } = request;
    const isClaimed = this.#counts.has(clientId) || this.#connecting.get(clientId)?.isClaimed === true;
    // In the turn of the call: the broker answers this CONNECT before a later one takes the session over.
    return isClaimed ? this.#open(request) : this.#claimAndOpen(request);
  }

  get: Inner['get'] = (tenant, clientId) => this.#inner.get(tenant, clientId);

  detach(request: DetachSession): ReturnType<Inner['detach']> {
    const answer = this.#counting(request.session, () => this.#inner.detach(request));
    this.#lookAtGroups(request.session);
    return answer;
  }

  end(request: EndSession): Awaitable<SessionEnd> {
    return this.#counting(request.session, () => this.#inner.end(request));
  }

  remove(session: SessionRef, lastConnectionId?: string): Awaitable<boolean> {
    return this.#counting(session, () => this.#inner.remove(session, lastConnectionId));
  }

  renew: SessionStore['renew'] = (...call) => this.#inner.renew(...call);
  noteReplays: SessionStore['noteReplays'] = (...call) => this.#inner.noteReplays(...call);
  beginWill: SessionStore['beginWill'] = (...call) => this.#inner.beginWill(...call);
  doneWill: SessionStore['doneWill'] = (...call) => this.#inner.doneWill(...call);
  discardWill: SessionStore['discardWill'] = (...call) => this.#inner.discardWill(...call);
  count: Inner['count'] = () => this.#inner.count();
  all: Inner['all'] = () => this.#inner.all();

  get holdings(): Inner['holdings'] {
    return this.#inner.holdings;
  }

  async #claimAndOpen(request: OpenSession): Promise<OpenedSession | 'owned-by-another'> {
    const home = await this.take(request.clientId);
    if (home !== undefined) throw new NotHere('another process serves this client');
    try {
      return await this.#open(request);
    } finally {
      this.leave(request.clientId);
    }
  }

  async #claim(clientId: string, connecting: Connecting): Promise<string | undefined> {
    let isHere = false;
    try {
      const home = await findHome(() => this.#claims.claim(clientId), this.#clock);
      isHere = home === undefined;
      connecting.isClaimed ||= isHere;
      return home;
    } finally {
      if (!isHere) this.leave(clientId);
    }
  }

  #open(request: OpenSession): Awaitable<OpenedSession | 'owned-by-another'> {
    request.reservation?.release();
    const opened = this.#counting(request, () => this.#inner.open(request));
    if (opened instanceof Promise)
      return opened.then((answer) => {
        this.#lookAtGroupsOf(answer);
        return answer;
      });
    this.#lookAtGroupsOf(opened);
    return opened;
  }

  #lookAtGroupsOf(opened: OpenedSession | 'owned-by-another'): void {
    if (opened !== 'owned-by-another' && opened.present) this.#lookAtGroups(opened.session);
  }

  /** A share group has one connected member more, or less. */
  #lookAtGroups(session: SessionRef): void {
    const shared = this.#subscriptions.list(session).filter(({ shareGroup }) => shareGroup !== undefined);
    if (shared.length > 0) void this.#routes.look(session.tenant, shared);
  }

  /** Counts in the turn of the call, even if the answer waits for the engine. */
  #counting<T>(name: Pick<SessionRef, 'tenant' | 'clientId'>, call: () => T): T {
    const { tenant, clientId } = name;
    const before = this.#inner.get(tenant, clientId) === undefined ? 0 : 1;
    const answer = call();
    const after = this.#inner.get(tenant, clientId) === undefined ? 0 : 1;
    if (before === after) return answer;
    const count = (this.#counts.get(clientId) ?? 0) + after - before;
    if (count > 0) this.#counts.set(clientId, count);
    else {
      this.#counts.delete(clientId);
      this.#release(clientId);
    }
    return answer;
  }

  #release(clientId: string): void {
    if (this.#counts.has(clientId) || this.#connecting.has(clientId)) return;
    this.#claims.release(clientId);
  }
}
