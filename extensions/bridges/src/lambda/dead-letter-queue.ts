import {
  decodeRuleJob,
  encodeRuleJob,
  type JobQueue,
  NEWER,
  type RuleRef,
  type Visibility,
  xmlJson,
} from '@apus/aws/lambda';
import { type Message, reasonOf } from '@apus/broker';
import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** Characters of an error that are kept. */
const ERROR_LENGTH_MAX = 500;
/** Messages in one call of SQS. */
const CALL_MESSAGES_MAX = 10;
/** Most dead letters that one read returns. */
export const LETTERS_MAX = 1_000;
/** The visibility timeout of a read: other reads do not see its letters for as long as the function may run. */
const LOOK_SECONDS = 180;
/** Long polling for a second asks all servers of SQS; a short poll asks only some. */
const WAIT_SECONDS = 1;

/** A message that a rule has given up. */
export interface RuleLetter {
  readonly rule: RuleRef;
  readonly message: Message;
  readonly error: string;
  readonly attempts: number;
  readonly failedAtMs: number;
}

/** A letter that a read holds until it ends. */
export interface FoundLetter extends RuleLetter {
  readonly receiptHandle: string;
}

export interface DeadLetterQueueOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly queue: JobQueue;
  /** Changes the visibility of messages of this queue. */
  readonly visibility: Visibility;
  /**
   * How long a read waits for a letter, in seconds.
   * @default 1
   */
  readonly waitSeconds?: number;
}

/** The dead letters of all rules: a standard queue, which keeps each for 14 days. */
export class DeadLetterQueue {
  readonly #options: DeadLetterQueueOptions;
  /** Receipt handles of this read. */
  #discarded = new Set<string>();

  constructor(options: DeadLetterQueueOptions) {
    this.#options = options;
  }

  /** Rejects with `QueueUnavailable` if the queue may lack some of them. */
  async add(letters: readonly RuleLetter[]): Promise<void> {
    await this.#options.queue.send(letters.map((letter) => ({ body: encode(letter) })));
  }

  /** A body that is not ours stays in the queue. */
  async addUnreadable(body: string): Promise<void> {
    await this.#options.queue.send([{ body }]);
  }

  /** Reads up to `LETTERS_MAX` letters, oldest first, and makes those visible again that `use` has not discarded. */
  async look<T>(use: (letters: readonly FoundLetter[]) => Promise<T>): Promise<T> {
    const found = await this.#receiveAll();
    const gone = new Set<string>();
    this.#discarded = gone;
    try {
      const letters = found.flatMap(({ body, receiptHandle }) => decode(body, receiptHandle));
      return await use(letters.sort(byAge));
    } finally {
      const left = found.filter(({ receiptHandle }) => !gone.has(receiptHandle));
      await this.#options.visibility.giveBack(
        left.map((each) => ({ ...each, messageId: '', attributes: {} })),
        0,
      );
    }
  }

  /** Deletes letters of this read. */
  async discard(letters: readonly FoundLetter[]): Promise<void> {
    const { client, queueUrl } = this.#options;
    for (let start = 0; start < letters.length; start += CALL_MESSAGES_MAX) {
      const some = letters.slice(start, start + CALL_MESSAGES_MAX);
      const Entries = some.map(({ receiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
      }));
      const { Failed = [] } = await client.send(
        new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }),
      );
      if (Failed.length > 0) throw new Error(`SQS has not deleted ${Failed.length} dead letters`);
      for (const { receiptHandle } of some) this.#discarded.add(receiptHandle);
    }
  }

  async #receiveAll(): Promise<readonly { readonly body: string; readonly receiptHandle: string }[]> {
    const { client, queueUrl, waitSeconds = WAIT_SECONDS } = this.#options;
    const found: { body: string; receiptHandle: string }[] = [];
    while (found.length < LETTERS_MAX) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: CALL_MESSAGES_MAX,
          VisibilityTimeout: LOOK_SECONDS,
          WaitTimeSeconds: waitSeconds,
        }),
      );
      if (Messages.length === 0) break;
      for (const { Body: body = '', ReceiptHandle: receiptHandle = '' } of Messages)
        found.push({ body, receiptHandle });
    }
    return found;
  }
}

function encode({ rule, message, error, attempts, failedAtMs }: RuleLetter): string {
  const facts = { error: error.slice(0, ERROR_LENGTH_MAX), attempts, failedAtMs };
  return xmlJson({ job: encodeRuleJob({ rule, message }), ...facts });
}

/** Letters of the same moment are sorted by identifier, so that two reads have the same order. */
function byAge(one: FoundLetter, other: FoundLetter): number {
  const difference = one.failedAtMs - other.failedAtMs;
  return difference === 0 ? one.message.id.localeCompare(other.message.id) : difference;
}

/** None if this code cannot read the body. */
function decode(body: string, receiptHandle: string): readonly FoundLetter[] {
  try {
    const { job, error, attempts, failedAtMs } = JSON.parse(body) as Record<string, unknown>;
    const decoded = decodeRuleJob(String(job));
    if (decoded === undefined || decoded === NEWER) return [];
    const facts = {
      error: reasonOf(error),
      attempts: Number(attempts),
      failedAtMs: Number(failedAtMs),
    };
    return [{ ...decoded, ...facts, receiptHandle }];
  } catch {
    return [];
  }
}
