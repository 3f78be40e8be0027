import { type Clock, type Log, reasonOf } from '@apus/broker';
import type {
  DynamoBans,
  DynamoStores,
  DynamoSweepScan,
  QuotaHoldings,
  SweepPosition,
  Swept,
  SweptPage,
} from '@apus/store-dynamodb';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events/gateway.ts';
import { inOneEvent } from '../outbox.ts';
import { inLanes } from '../posts/lanes.ts';
import { PARALLEL_WRITES_MAX, type UsageStore } from '../usage/environment-usage.ts';
import { heldTallied, wantedHolders, writeTallies } from './held-tally.ts';
import { judge, type Pass } from './judge.ts';
import { isComplete, resume, type SweepProgress } from './progress.ts';
import { noSweepCounts, type Remedy, type SweepCounts, SweepRemedies } from './remedies.ts';
import { tallied, wrongTallies } from './retained-tally.ts';
import { releaseShapes, shapesTallied } from './shape-tally.ts';
import { waitingTallied, writeStorage } from './storage.ts';

/** A run with less time left reads no further page: it still has to end its work and write its progress. */
const RESERVE_MS = 15_000;

/** A run with less time left repairs nothing further: the next run finds it again. */
const REMEDY_RESERVE_MS = 5_000;

/**
 * Findings that are repaired side by side, as when a great many connections have ended unnoticed. Clients need most of
 * what the tables take.
 */
export const PARALLEL_REMEDIES_MAX = 8;

/** Segments of a table that are read side by side: 4 MB a round. */
const SEGMENTS = 4;

/** A connection without CONNECT is closed after this long. */
const CONNECT_TIMEOUT_SECONDS = 60;

/** The earlier pass has skipped everything from shortly before its beginning: it was too young. */
const OVERLAP_MS = 300_000;

export interface SweepOptions {
  /** The environment of this function: `composeCloud().environment`. */
  readonly environment: Environment;
  /** `stores.sweepScan`. */
  readonly scan: DynamoSweepScan;
  /** `stores.sessions`: their number is sampled, and corrected by every pass. */
  readonly sessions: { recount(count: number): Promise<void> };
  /** `stores.retained`: the sweep corrects each tenant's counts of retained messages. */
  readonly retained: { resize(tenant: string, messages: number, bytes: number): Promise<void> };
  /** `stores.quotaHoldings`: the sweep recounts holders that have refused a client. */
  readonly holdings: Pick<QuotaHoldings, 'set' | 'setSessions'>;
  /** `stores.shapes`: the sweep gives back those that no session uses. */
  readonly shapes: DynamoStores['shapes'];
  /** `stores.bans`. */
  readonly bans: DynamoBans;
  /** `stores.usage`: what tenants store is counted. @default it is not */
  readonly usage?: Pick<UsageStore, 'put'> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** @default 4 */
  readonly segments?: number;
  /** @default 60 */
  readonly connectTimeoutSeconds?: number;
}

export interface SweepReport extends SweepCounts {
  /** This run has come to the end of the table. */
  readonly isPassComplete: boolean;
  readonly pass: number;
  /** Connections that are there, and sessions, seen by this pass so far. */
  readonly connections: number;
  readonly sessions: number;
}

export type Sweep = (event: unknown, context: InvocationContext) => Promise<SweepReport>;

/**
 * A scheduled function, every ten minutes. It finds work that a dying process has left undone, or whose event never
 * came. Every pass goes over the table of sessions, and one a day over that of messages. A run takes no more time than
 * its function has; the next one goes on where it stopped.
 *
 *     const cloud = composeCloud(options);
 *     export const handler = createSweep({
 *       environment: cloud.environment, scan: cloud.stores.sweepScan,
 *       sessions: cloud.stores.sessions, retained: cloud.stores.retained,
 *       holdings: cloud.stores.quotaHoldings, shapes: cloud.stores.shapes, bans: cloud.stores.bans, clock, log,
 *     });
 */
export function createSweep(options: SweepOptions): Sweep {
  return async (_event, context) => {
    const run = new Run(options, context);
    const report = await run.run();
    options.log.info('swept', { ...report });
    return report;
  };
}

/** @throws {Error} if something could not be repaired: an alarm watches Lambda's count of errors */
export function failIfUnrepaired({ failed }: SweepReport): void {
  if (failed > 0)
    throw new Error(`${failed} findings could not be repaired: sweep-failed in the log has each`);
}

class Run {
  readonly #options: SweepOptions;
  readonly #context: InvocationContext;
  readonly #counts = noSweepCounts();
  readonly #remedies: SweepRemedies;
  /** Undefined where there are no bans. */
  #bans: DynamoBans | undefined;

  constructor(options: SweepOptions, context: InvocationContext) {
    this.#options = options;
    this.#context = context;
    this.#remedies = new SweepRemedies(options.scan, this.#counts);
  }

  async run(): Promise<SweepReport> {
    const { scan, sessions, retained, holdings, shapes, bans, clock, segments = SEGMENTS } = this.#options;
    if ((await bans.all()).length > 0) this.#bans = bans;
    let progress = resume(await scan.recall(), segments, clock.now());
    while (!isComplete(progress) && this.#context.getRemainingTimeInMillis() > RESERVE_MS) {
      const next = await this.#round(progress);
      if (next === undefined) break;
      progress = next;
      await scan.note(progress);
    }
    const isPassComplete = isComplete(progress);
    if (isPassComplete) {
      await sessions.recount(progress.sessions);
      if (progress.readsMessages) {
        await inLanes(PARALLEL_WRITES_MAX, wrongTallies(progress.retained), ({ tenant, messages, bytes }) =>
          retained.resize(tenant, messages, bytes),
        );
      }
      await writeTallies(holdings, progress);
      await releaseShapes(shapes, progress);
      await this.#countStorage(progress);
    }
    return {
      ...this.#counts,
      isPassComplete,
      pass: progress.pass,
      connections: progress.connections,
      sessions: progress.sessions,
    };
  }

  /** Reads a page of each segment that is left. Undefined: there was no time for everything that was found. */
  async #round(progress: SweepProgress): Promise<SweepProgress | undefined> {
    const pages = await Promise.all(
      progress.segments.map((position, index) =>
        position === 'done' ? undefined : this.#page(progress, index, position),
      ),
    );
    const found = pages.flatMap((page) => page?.found ?? []);
    if (!(await this.#putRight(found, progress))) return undefined;
    return {
      ...progress,
      hasFailed: progress.hasFailed || this.#counts.failed > 0,
      segments: pages.map((page) => page?.next ?? 'done'),
      connections: progress.connections + found.filter(isOpenConnection).length,
      sessions: progress.sessions + found.filter(isSession).length,
      retained: tallied(progress.retained, found),
      waiting: waitingTallied(progress.waiting ?? [], found),
      held: heldTallied(progress.held, found),
      shapes: shapesTallied(progress.shapes ?? [], found),
      wantedHolders: wantedHolders(progress.wantedHolders, found),
    };
  }

  /** The segments of the sessions' table come first. */
  async #page(
    { held = [], shapes = [] }: SweepProgress,
    index: number,
    position: SweepPosition | 'begin',
  ): Promise<SweptPage> {
    const { scan, usage, segments = SEGMENTS } = this.#options;
    const after = position === 'begin' ? undefined : position;
    if (index >= segments)
      return await scan.messagesPage(
        index - segments,
        segments,
        after,
        usage !== undefined,
        shapes.length > 0,
      );
    const withIdentities = this.#bans !== undefined || held.length > 0;
    return await scan.page(index, segments, after, withIdentities);
  }

  async #putRight(found: readonly Swept[], progress: SweepProgress): Promise<boolean> {
    const { clock, connectTimeoutSeconds = CONNECT_TIMEOUT_SECONDS } = this.#options;
    const pass: Pass = {
      nowMs: clock.now(),
      sinceMs: progress.previousStartedAtMs - OVERLAP_MS,
      connectTimeoutSeconds,
      bans: this.#bans,
    };
    const remedies = await this.#remedies.of(
      found.flatMap((swept) => judge(swept, pass)),
      pass,
    );
    let isDone = true;
    await inLanes(PARALLEL_REMEDIES_MAX, remedies, async (remedy) => {
      if (this.#context.getRemainingTimeInMillis() < REMEDY_RESERVE_MS) isDone = false;
      else await this.#apply(remedy);
    });
    return isDone;
  }

  /** A failed write is not repeated: that time is not charged for. */
  async #countStorage(progress: SweepProgress): Promise<void> {
    const { usage, log } = this.#options;
    if (usage === undefined) return;
    try {
      await writeStorage(usage, progress);
    } catch (error) {
      log.warn('usage-not-written', { error: reasonOf(error) });
    }
  }

  /** A remedy that fails stops no other: the next pass finds it again. */
  async #apply(remedy: Remedy): Promise<void> {
    const { environment, log } = this.#options;
    try {
      await inOneEvent(environment, remedy);
    } catch (error) {
      this.#counts.failed += 1;
      log.error('sweep-failed', {
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  }
}

function isOpenConnection(swept: Swept): boolean {
  return swept.kind === 'connection' && swept.endedAtMs === undefined;
}

function isSession(swept: Swept): boolean {
  return swept.kind === 'session' && swept.incarnation !== '';
}
