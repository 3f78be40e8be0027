import { Unavailable } from '@apus/broker';
import {
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from '@aws-sdk/client-sqs';

/** SQS: entries of one batch, and bytes of their bodies together. */
const BATCH_ENTRIES_MAX = 10;
export const BATCH_BYTES_MAX = 1_048_576;

/** Batches under way at the same time: a filter of 256 shards takes 26. */
const PARALLEL_BATCHES_MAX = 8;

/** Attempts to send a batch or its rest. With the pauses they end well within a handler's five seconds. */
const ATTEMPTS_MAX = 4;
const FIRST_PAUSE_MS = 25;

/** A message for a queue of ours. */
export interface QueueEntry {
  /** Only characters that XML allows: JSON with base64 in it does. */
  readonly body: string;
  /** FIFO only. Entries of a group are received in the order in which they were sent, and once each. */
  readonly fifo?: { readonly groupId: string; readonly deduplicationId: string };
  /** Standard only; at most 900. */
  readonly delaySeconds?: number;
}

/** Where jobs are sent. */
export interface JobQueue {
  /** Resolves when the queue holds all entries. Rejects with `QueueUnavailable` when some may be missing. */
  send(entries: readonly QueueEntry[]): Promise<void>;
}

/** SQS refused a job at each of several attempts. 0x97 Quota exceeded. */
export class QueueUnavailable extends Unavailable {
  override readonly name = 'QueueUnavailable';
  readonly reasonCode = 0x97;

  constructor(attempts: number, cause: unknown) {
    super(`the queue refused a batch ${attempts} times; try again later`, { cause });
  }
}

export interface SqsQueueOptions {
  /** Give it `maxAttempts: 1`: the queue tries again by itself. */
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
}

/**
 * A queue in SQS. Only one entry of a group is under way at a time: SQS may take a part of a batch, and an entry that
 * is sent again would then stand behind later ones.
 *
 *     SendMessageBatch [A1, A2]          the queue takes A2 and refuses A1: A2, A1
 *     SendMessageBatch [A1, B1], again   until A1 is taken; then [A2, B2]: A1, A2
 */
export class SqsQueue implements JobQueue {
  readonly #options: SqsQueueOptions;

  constructor(options: SqsQueueOptions) {
    this.#options = options;
  }

  async send(entries: readonly QueueEntry[]): Promise<void> {
    for (const round of roundsOf(entries)) await this.#sendRound([...batchesOf(round)]);
  }

  /** If it rejects, all batches have ended: none is left under way. */
  async #sendRound(batches: readonly (readonly QueueEntry[])[]): Promise<void> {
    const waiting = batches.values();
    const send = async () => {
      for (const batch of waiting) await this.#sendBatch(batch);
    };
    const sent = await Promise.allSettled(Array.from({ length: PARALLEL_BATCHES_MAX }, send));
    const failed = sent.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #sendBatch(batch: readonly QueueEntry[]): Promise<void> {
    let left = batch.map(requestEntry);
    let cause: unknown;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (attempt > 0) await this.#pause(attempt);
      try {
        left = await this.#try(left);
        cause = `${left.length} entries were refused`;
      } catch (error) {
        cause = error;
      }
      if (left.length === 0) return;
    }
    throw new QueueUnavailable(ATTEMPTS_MAX, cause);
  }

  /** Returns the entries that SQS did not take. */
  async #try(entries: SendMessageBatchRequestEntry[]): Promise<SendMessageBatchRequestEntry[]> {
    const { client, queueUrl } = this.#options;
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }),
    );
    const failed = new Set(Failed.map(({ Id }) => Id));
    return entries.filter(({ Id }) => failed.has(Id));
  }

  async #pause(attempt: number): Promise<void> {
    const { random = Math.random, sleep } = this.#options;
    await sleep(random() * FIRST_PAUSE_MS * 2 ** attempt);
  }
}

function requestEntry({ body, fifo, delaySeconds }: QueueEntry, index: number): SendMessageBatchRequestEntry {
  return {
    Id: String(index),
    MessageBody: body,
    ...(fifo !== undefined && {
      MessageGroupId: fifo.groupId,
      MessageDeduplicationId: fifo.deduplicationId,
    }),
    ...(delaySeconds !== undefined && { DelaySeconds: delaySeconds }),
  };
}

/** The first entries of all groups, then the second ones, and so on. */
function roundsOf(entries: readonly QueueEntry[]): QueueEntry[][] {
  const rounds: QueueEntry[][] = [];
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const group = entry.fifo?.groupId;
    const index = group === undefined ? 0 : (counts.get(group) ?? 0);
    if (group !== undefined) counts.set(group, index + 1);
    const round = rounds[index];
    if (round === undefined) rounds.push([entry]);
    else round.push(entry);
  }
  return rounds;
}

function* batchesOf(entries: readonly QueueEntry[]): Generator<readonly QueueEntry[]> {
  let batch: QueueEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const length = Buffer.byteLength(entry.body);
    if (batch.length === BATCH_ENTRIES_MAX || (batch.length > 0 && bytes + length > BATCH_BYTES_MAX)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += length;
  }
  if (batch.length > 0) yield batch;
}
