import type { Claim, Cohort, FanOutProgress, FanOutState, ShardName } from '@apus/store-dynamodb';
import { sequenceOf, type Task } from './batch.ts';

/** Jobs that go through the shard together, from the same position. */
export interface Run {
  readonly tasks: readonly Task[];
  /** How far an earlier worker came. Undefined: they have not begun. */
  readonly known: Cohort | undefined;
}

export type ClaimOutcome =
  | { readonly outcome: 'claimed' }
  /** Another worker has taken the shard. */
  | { readonly outcome: 'lost' }
  /** An earlier worker has begun some of the jobs. */
  | { readonly outcome: 'interrupted' };

/** The progress of a shard as this worker knows and writes it. */
export class Ledger {
  readonly #progress: Pick<FanOutProgress, 'begin' | 'advance'>;
  readonly #shard: ShardName;
  readonly #owner: string;
  /** The state in the table. Undefined: this worker has neither read nor written it. */
  #state: FanOutState | undefined;
  /** The cohorts of the next write. */
  #cohorts: readonly Cohort[] = [];

  constructor(progress: Pick<FanOutProgress, 'begin' | 'advance'>, shard: ShardName, owner: string) {
    this.#progress = progress;
    this.#shard = shard;
    this.#owner = owner;
  }

  /**
   * Writes that these jobs are about to be posted up to the end of this claim, and have been posted up to its
   * beginning.
   */
  async claim(tasks: readonly Task[], claim: Claim, attempts: number): Promise<ClaimOutcome> {
    const jobs = tasks.map(({ name }) => name);
    const cohorts = [...without(this.#cohorts, jobs), { jobs, claim, attempts, isDone: false }];
    const to = this.#next(cohorts, tasks);
    if (this.#state === undefined) {
      const begun = await this.#progress.begin(this.#shard, to);
      if (begun.outcome === 'interrupted') {
        this.#state = begun.state;
        this.#cohorts = begun.state.cohorts;
        return { outcome: 'interrupted' };
      }
      if (begun.outcome === 'stale') return { outcome: 'lost' };
    } else if (!(await this.#progress.advance(this.#shard, this.#state, to))) return { outcome: 'lost' };
    this.#state = to;
    this.#cohorts = cohorts;
    return { outcome: 'claimed' };
  }

  /** The last claim of these jobs, by this or another worker. */
  claimOf(tasks: readonly Task[]): Claim | undefined {
    const [first] = tasks;
    return first && this.#cohorts.find(({ jobs }) => jobs.includes(first.name))?.claim;
  }

  /** These jobs are done; the next claim writes it, if there is one. */
  finish(tasks: readonly Task[]): void {
    const jobs = tasks.map(({ name }) => name);
    const known = this.#cohorts.find((cohort) => cohort.jobs.some((job) => jobs.includes(job)));
    if (known === undefined) return;
    this.#cohorts = [...without(this.#cohorts, jobs), { ...known, jobs, isDone: true }];
  }

  /**
   * Groups the jobs into runs of those that have come equally far. A job that has failed repeatedly together with
   * others is a run by itself.
   *
   * Known jobs that are not in this batch keep their position, since they stand behind it and will come. If the batch
   * has a new job, they stood before it, and are gone.
   */
  plan(tasks: readonly Task[], attemptsTogetherMax: number): Run[] {
    const names = tasks.map(({ name }) => name);
    const known = this.#cohorts.flatMap(({ jobs }) => jobs);
    if (names.some((name) => !known.includes(name))) {
      this.#cohorts = without(
        this.#cohorts,
        known.filter((job) => !names.includes(job)),
      );
    }
    return this.#runsOf(tasks, attemptsTogetherMax);
  }

  #runsOf(tasks: readonly Task[], attemptsTogetherMax: number): Run[] {
    const runs: { tasks: Task[]; known: Cohort | undefined }[] = [];
    for (const task of tasks) {
      const known = this.#cohorts.find(({ jobs }) => jobs.includes(task.name));
      const last = runs.at(-1);
      const isAlone = known !== undefined && !known.isDone && known.attempts >= attemptsTogetherMax;
      if (last !== undefined && last.known === known && !isAlone) last.tasks.push(task);
      else runs.push({ tasks: [task], known });
    }
    return runs;
  }

  /**
   * The number is that of the last job that has begun, not of the last one in the batch: the jobs between are still to
   * come.
   */
  #next(cohorts: readonly Cohort[], begun: readonly Task[]): FanOutState {
    const { claims = 0, sequence: earlier = '' } = this.#state ?? {};
    const last = begun.at(-1);
    const sequence = last === undefined ? '' : sequenceOf(last);
    const isLater = sequence > earlier;
    return { owner: this.#owner, claims: claims + 1, sequence: isLater ? sequence : earlier, cohorts };
  }
}

function without(cohorts: readonly Cohort[], jobs: readonly string[]): Cohort[] {
  return cohorts
    .map((cohort) => ({ ...cohort, jobs: cohort.jobs.filter((job) => !jobs.includes(job)) }))
    .filter((cohort) => cohort.jobs.length > 0);
}
