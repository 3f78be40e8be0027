import { decodeJob, type FanOutJob, groupOf, jobIdOf, type Shard } from './fan-out-job.ts';
import type { SqsRecord } from './sqs-events.ts';

/** Characters of a job's id that name it in the progress of its shard: 96 bits. */
const JOB_NAME_LENGTH = 16;

/** A job, and the record that carried it; or records, when the queue holds the same job twice. */
export interface Task {
  readonly name: string;
  readonly job: FanOutJob;
  readonly records: SqsRecord[];
}

/** The jobs of one shard, in their order. */
export interface TaskGroup {
  readonly shard: Shard;
  readonly tasks: Task[];
}

export interface Batch {
  readonly groups: readonly TaskGroup[];
  /** What is no job. It will not become one by being tried again. */
  readonly undecodable: readonly SqsRecord[];
}

/** Sorts what SQS handed over by shard. */
export function batchOf(records: readonly SqsRecord[]): Batch {
  const groups = new Map<string, TaskGroup>();
  const undecodable: SqsRecord[] = [];
  for (const record of records) {
    const job = decodeJob(record.body);
    if (job === undefined) undecodable.push(record);
    else addTask(groups, job, record);
  }
  return { groups: [...groups.values()], undecodable };
}

function addTask(groups: Map<string, TaskGroup>, job: FanOutJob, record: SqsRecord): void {
  const id = groupOf(job);
  let group = groups.get(id);
  if (group === undefined) {
    const { tenant, topicFilter, shard } = job;
    group = { shard: { tenant, topicFilter, shard }, tasks: [] };
    groups.set(id, group);
  }
  const name = jobIdOf(job).slice(0, JOB_NAME_LENGTH);
  const same = group.tasks.find((task) => task.name === name);
  if (same === undefined) group.tasks.push({ name, job, records: [record] });
  else same.records.push(record);
}
