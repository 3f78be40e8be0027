import { NEWER } from '../events/queued-text.ts';
import type { SqsRecord } from '../events/sqs.ts';
import { decodeJob, type FanOutJob, groupOf, jobIdOf, type Shard } from './job.ts';

/** Characters of a job's id that name it in the progress of its shard: 96 bits. */
const JOB_NAME_LENGTH = 16;

/** A job and its record; several records if the queue holds the job more than once. */
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

/** The share of a job's text that its messages take: the rest is added by base64. */
const BASE64_SHARE = 0.75;

/** Bytes of the messages of these jobs, for one recipient. */
export function bytesOf(tasks: readonly Task[]): number {
  return tasks.reduce((sum, { records }) => sum + (records[0]?.body.length ?? 0) * BASE64_SHARE, 0);
}

/** Sequence numbers have up to 128 bits; as strings of one length they compare as numbers. */
const SEQUENCE_DIGITS = 39;

/** The sequence number of SQS; empty if the record has none. */
export function sequenceOf({ records }: Task): string {
  const number = records[0]?.attributes.SequenceNumber;
  return number === undefined ? '' : number.padStart(SEQUENCE_DIGITS, '0');
}

export interface Batch {
  readonly groups: readonly TaskGroup[];
  /** Records that are no jobs. A retry would not change that. */
  readonly undecodable: readonly SqsRecord[];
  /** Jobs of a newer version, and those behind them in their message groups, which must not overtake them. */
  readonly newer: readonly SqsRecord[];
}

/** Groups the records of SQS by shard. */
export function batchOf(records: readonly SqsRecord[]): Batch {
  const groups = new Map<string, TaskGroup>();
  const undecodable: SqsRecord[] = [];
  const newer: SqsRecord[] = [];
  const waiting = new Set<string | undefined>();
  for (const record of records) {
    const { MessageGroupId: groupId } = record.attributes;
    const job = decodeJob(record.body);
    if (job === NEWER || waiting.has(groupId)) {
      waiting.add(groupId);
      newer.push(record);
    } else if (job === undefined) undecodable.push(record);
    else addTask(groups, job, record);
  }
  return { groups: [...groups.values()], undecodable, newer };
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
