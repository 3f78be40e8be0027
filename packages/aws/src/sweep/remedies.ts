import {
  type ConnectionId,
  expulsionOf,
  type SessionRecord,
  type SessionRef,
  sessionKey,
} from '@apus/broker';
import type { DynamoSweepScan, SessionName } from '@apus/store-dynamodb';
import type { Outbox } from '../outbox.ts';
import { type Finding, isOldEnough, type Pass } from './judge.ts';

type Named<What extends Finding['what']> = Extract<Finding, { readonly what: What }>;

/** Counts of what the sweep has repaired. */
export interface SweepCounts {
  /** Connections that never sent CONNECT, and were cut. */
  connectTimeouts: number;
  /** Sessions that were told of the end of their connection. */
  connectionsLost: number;
  /** Connections whose queue did not move, and which were closed. */
  connectionsStuck: number;
  sessionsEnded: number;
  /** Wills that were looked at, and published unless another process has done so. */
  wills: number;
  /** Sessions that have left their rooms. */
  absent: number;
  /** Sessions of banned clients that were ended. */
  expelled: number;
  /** Ended sessions whose items were removed. */
  debris: number;
  /** Findings that could not be handled. */
  failed: number;
}

export function noSweepCounts(): SweepCounts {
  return {
    connectTimeouts: 0,
    connectionsLost: 0,
    connectionsStuck: 0,
    sessionsEnded: 0,
    wills: 0,
    absent: 0,
    expelled: 0,
    debris: 0,
    failed: 0,
  };
}

/** Repairs a finding that a second look has confirmed. */
export type Remedy = (outbox: Outbox) => Promise<void>;

/**
 * Reads each finding again, strongly consistent and many at once, and returns the remedies. Each remedy is conditional
 * on its finding, so a repeated sweep, or two at once, have the effect of one.
 */
export class SweepRemedies {
  readonly #scan: DynamoSweepScan;
  readonly #counts: SweepCounts;

  constructor(scan: DynamoSweepScan, counts: SweepCounts) {
    this.#scan = scan;
    this.#counts = counts;
  }

  async of(found: readonly Finding[], pass: Pass): Promise<readonly Remedy[]> {
    const findings = withoutRepetitions(found);
    const remedies: Remedy[] = [];
    for (const finding of findings) {
      const remedy = this.#immediate(finding, pass);
      if (remedy !== undefined) remedies.push(remedy);
    }
    const named = <What extends Finding['what']>(what: What) =>
      findings.filter((finding): finding is Named<What> => finding.what === what);
    remedies.push(...(await this.#untold(named('ended'))));
    remedies.push(...(await this.#unsaved(named('opened'), pass)));
    remedies.push(...(await this.#unmoved(named('stuck'))));
    remedies.push(...(await this.#debris(named('holder'))));
    return remedies;
  }

  #immediate(finding: Finding, pass: Pass): Remedy | undefined {
    switch (finding.what) {
      case 'silent':
        return (outbox) => this.#cut(outbox, finding.connectionId);
      case 'outlived':
        return (outbox) => this.#lose(outbox, finding.session, finding.connectionId, finding.endedAtMs, true);
      case 'expired':
        return (outbox) => this.#expire(outbox, finding);
      case 'will':
        return (outbox) => this.#publish(outbox, finding);
      case 'absent':
        return (outbox) => this.#leave(outbox, finding);
      case 'banned':
        return (outbox) => this.#expel(outbox, finding, pass);
      default:
        return undefined;
    }
  }

  /** Ended connections that their sessions still name. */
  async #untold(ended: readonly Named<'ended'>[]): Promise<Remedy[]> {
    const standing = await this.#scan.sessions(ended.map(({ session }) => session));
    return ended
      .filter(({ connectionId }, index) => standing[index]?.connectionId === connectionId)
      .map(
        ({ session, connectionId, endedAtMs }) =>
          (outbox) =>
            this.#lose(outbox, session, connectionId, endedAtMs, undefined),
      );
  }

  /** Sessions whose connection has ended, or was never saved. */
  async #unsaved(opened: readonly Named<'opened'>[], pass: Pass): Promise<Remedy[]> {
    const standing = await this.#scan.connections(opened.map(({ connectionId }) => connectionId));
    return opened.flatMap(({ session, connectionId }, index) => {
      const found = standing[index] ?? 'there';
      if (found === 'missing')
        return [(outbox: Outbox) => this.#lose(outbox, session, connectionId, undefined, undefined)];
      if (found === 'there' || !isOldEnough(found.endedAtMs, pass)) return [];
      return [(outbox: Outbox) => this.#lose(outbox, session, connectionId, found.endedAtMs, undefined)];
    });
  }

  /** Queues that have still not moved. */
  async #unmoved(stuck: readonly Named<'stuck'>[]): Promise<Remedy[]> {
    const sessions = stuck.map(({ session }) => session);
    const standing = await this.#scan.queues(sessions);
    const holders = await this.#scan.sessions(sessions);
    return stuck.flatMap(({ session, connectionId, waitsSinceMs }, index) => {
      const now = standing[index];
      if (now?.connectionId !== connectionId || now.waitsSinceMs !== waitsSinceMs) return [];
      const isHolder = holders[index]?.connectionId === connectionId;
      if (!isHolder) return [() => this.#scan.lost(session, connectionId)];
      return [(outbox: Outbox) => this.#unstick(outbox, session, connectionId)];
    });
  }

  /** Items of ended sessions. An ended incarnation never comes back. */
  async #debris(holders: readonly Named<'holder'>[]): Promise<Remedy[]> {
    const standing = await this.#scan.sessions(holders.map(({ session }) => session));
    return holders
      .filter(({ session }, index) => standing[index]?.incarnation !== session.incarnation)
      .map(({ session }) => async ({ broker }) => {
        this.#counts.debris += 1;
        await broker.discardEnded(refOf(session));
      });
  }

  async #cut({ links, poster }: Outbox, connectionId: ConnectionId): Promise<void> {
    const state = await links.load(connectionId);
    // Its CONNECT has come meanwhile.
    if (state === undefined || state.phase === 'connected' || state.phase === 'closed') return;
    await links.end(connectionId);
    await poster.delete(connectionId);
    this.#counts.connectTimeouts += 1;
  }

  /**
   * Writes the tombstone first, against a late frame; then tells the session, even if another process wrote the
   * tombstone. Closes the connection at last: if a process got 410 for an open one, wrote the tombstone and died, the
   * client notices the close alone, and would otherwise hear nothing until its next packet.
   */
  async #lose(
    { broker, links, poster }: Outbox,
    { tenant, clientId }: SessionName,
    connectionId: ConnectionId,
    atMs: number | undefined,
    wasCut: boolean | undefined,
  ): Promise<void> {
    await links.end(connectionId);
    const isNews = await broker.lostUnnoticed(tenant, clientId, connectionId, { atMs, wasCut });
    if (!isNews) return;
    this.#counts.connectionsLost += 1;
    if (wasCut !== true) await poster.delete(connectionId);
  }

  /**
   * Closes the connection. `$disconnect` tells the session; if that is lost, the next pass finds the connection gone.
   */
  async #unstick(outbox: Outbox, session: SessionName, connectionId: ConnectionId): Promise<void> {
    const { poster } = outbox;
    this.#counts.connectionsStuck += 1;
    if ((await poster.get(connectionId)) === 'gone')
      return await this.#lose(outbox, session, connectionId, undefined, undefined);
    await poster.delete(connectionId);
  }

  async #expire({ broker }: Outbox, { session, connectionId }: Named<'expired'>): Promise<void> {
    await broker.fire({ kind: 'session-expiry', session: refOf(session), connectionId });
    this.#counts.sessionsEnded += 1;
  }

  async #leave({ broker }: Outbox, { session, connectionId }: Named<'absent'>): Promise<void> {
    await broker.fire({ kind: 'presence', session: refOf(session), connectionId });
    this.#counts.absent += 1;
  }

  async #expel(
    { broker }: Outbox,
    { session: { tenant, clientId }, ban }: Named<'banned'>,
    { bans }: Pass,
  ): Promise<void> {
    const isMeant = ({ identity, attachment }: SessionRecord) =>
      bans?.banOnSession(identity, clientId, attachment?.holder) !== undefined;
    if (await broker.expel(tenant, clientId, expulsionOf(ban), isMeant)) this.#counts.expelled += 1;
  }

  async #publish({ broker }: Outbox, { session, connectionId }: Named<'will'>): Promise<void> {
    const ref = refOf({ ...session, incarnation: '' });
    await broker.fire({ kind: 'will', session: ref, connectionId });
    this.#counts.wills += 1;
  }
}

/** The end of a connection is found at its item and at that of its session; remedies run side by side. */
function withoutRepetitions(findings: readonly Finding[]): readonly Finding[] {
  const lost = new Set<ConnectionId>();
  return findings.filter((finding) => {
    if (finding.what !== 'outlived' && finding.what !== 'ended' && finding.what !== 'opened') return true;
    const isNews = !lost.has(finding.connectionId);
    lost.add(finding.connectionId);
    return isNews;
  });
}

function refOf({ tenant, clientId, incarnation }: SessionName & { incarnation: string }): SessionRef {
  return { key: sessionKey(tenant, clientId), tenant, clientId, incarnation, attachment: undefined };
}
