import type { InvocationContext } from '@apus/aws';
import {
  decodeRuleJob,
  NEWER,
  type RuleJob,
  type RuleRef,
  receivesOf,
  type SqsBatchResponse,
  type SqsEvent,
  type SqsRecord,
  type Visibility,
} from '@apus/aws/lambda';
import { type Clock, isExpired, type Log, type Message, reasonOf } from '@apus/broker';
import type { RuleConfiguration } from '../rules/configuration/rules.ts';
import { batchOf } from '../rules/lane.ts';
import { leavingOf } from '../rules/leaving.ts';
import type { Failure, Target } from '../rules/target.ts';
import type { DeadLetterQueue } from './dead-letter-queue.ts';

/** With less time left the function begins no call: a webhook may take a minute to answer. */
export const RESERVE_MS = 65_000;
/** The longest visibility timeout of SQS. */
const GIVEN_BACK_SECONDS_MAX = 43_200;

/** A rule, and the sender to its target. */
export interface OpenRule {
  readonly configuration: RuleConfiguration;
  readonly target: Target;
}

export type RuleCount = 'sent' | 'failed_attempts' | 'dead' | 'condition_failed';

export interface RulesHandlerOptions {
  /** Rules by `ruleKey`. Rejects if a secret cannot be read. */
  readonly rules: () => Promise<ReadonlyMap<string, OpenRule>>;
  readonly deadLetters: Pick<DeadLetterQueue, 'add' | 'addUnreadable'>;
  /** Changes the visibility of messages in the queue of the rules. */
  readonly visibility: Visibility;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: (what: RuleCount, messages: number) => void;
}

export type RulesHandler = (event: SqsEvent, context: InvocationContext) => Promise<SqsBatchResponse>;

export function ruleKey({ tenant, name }: RuleRef): string {
  return `${tenant}/${name}`;
}

/**
 * The function of the queue of rules: a FIFO event source with `ReportBatchItemFailures`, in which a rule and a topic
 * form a message group. It sends the messages of a group one batch after another. If one fails, the function gives it
 * and the later ones back to the queue, so no later one overtakes them. A message that its target does not take becomes
 * a dead letter.
 */
export function createRulesHandler(options: RulesHandlerOptions): RulesHandler {
  return async ({ Records }, context) => {
    const rules = await options.rules();
    const left = await Promise.all(
      groupsOf(Records).map((records) => new GroupRun(options, rules, context).run(records)),
    );
    return { batchItemFailures: left.flat().map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

function groupsOf(records: readonly SqsRecord[]): readonly (readonly SqsRecord[])[] {
  const groups = new Map<string, SqsRecord[]>();
  for (const record of records) {
    const group = record.attributes.MessageGroupId ?? record.messageId;
    groups.set(group, [...(groups.get(group) ?? []), record]);
  }
  return [...groups.values()];
}

interface Received extends RuleJob {
  readonly record: SqsRecord;
}

interface Task extends Received {
  readonly open: OpenRule;
}

/** One message group of an event. */
class GroupRun {
  readonly #options: RulesHandlerOptions;
  readonly #rules: ReadonlyMap<string, OpenRule>;
  readonly #context: InvocationContext;
  /**
   * If a target refuses a batch for good, the function sends this many messages one by one, as only one of them may be
   * at fault.
   */
  #alone = 0;

  constructor(
    options: RulesHandlerOptions,
    rules: ReadonlyMap<string, OpenRule>,
    context: InvocationContext,
  ) {
    this.#options = options;
    this.#rules = rules;
    this.#context = context;
  }

  /**
   * Never rejects: a rejection would end the function while it sends the messages of other groups.
   * @returns the records that come again
   */
  async run(records: readonly SqsRecord[]): Promise<readonly SqsRecord[]> {
    try {
      return await this.#run(records);
    } catch (error) {
      this.#options.log.error('rule-messages-wait', { error: reasonOf(error) });
      return records;
    }
  }

  async #run(records: readonly SqsRecord[]): Promise<readonly SqsRecord[]> {
    const jobs = records.map(({ body }) => decodeRuleJob(body));
    // A job of a newer version waits for the code that knows it, and none of its group overtakes it.
    const newer = jobs.indexOf(NEWER);
    const later = newer < 0 ? [] : records.slice(newer);
    if (later.length > 0) this.#options.log.warn('rule-messages-newer', { count: later.length });
    const tasks = records
      .slice(0, records.length - later.length)
      .map((record, index) => this.#tasksOf(record, jobs[index]));
    let left: readonly Task[] = (await Promise.all(tasks)).flat();
    while (left.length > 0) {
      if (this.#context.getRemainingTimeInMillis() < RESERVE_MS)
        return [...(await this.#giveBack(left, 0)), ...later];
      const done = await this.#step(left);
      if (typeof done !== 'number') return [...done, ...later];
      left = left.slice(done);
    }
    return later;
  }

  /** None if the message stays in the queue. Rejects if it should become a dead letter but cannot. */
  async #tasksOf(record: SqsRecord, job: ReturnType<typeof decodeRuleJob>): Promise<readonly Task[]> {
    if (job === undefined || job === NEWER) {
      this.#options.log.error('rule-message-unreadable', { messageId: record.messageId });
      await this.#options.deadLetters.addUnreadable(record.body);
      return [];
    }
    const open = this.#rules.get(ruleKey(job.rule));
    if (open === undefined) {
      if (await this.#bury([{ ...job, record }], 'there is no such rule now')) return [];
      throw new Error('the queue of dead letters does not answer');
    }
    const message = this.#leaving(open, job.message);
    return message === undefined ? [] : [{ ...job, message, record, open }];
  }

  /** The message in the target's form; undefined for a message that is not sent. */
  #leaving({ configuration }: OpenRule, message: Message): Message | undefined {
    if (isExpired(message, this.#options.clock.now())) return undefined;
    const leaving = leavingOf(configuration, message);
    if (typeof leaving !== 'string') return leaving;
    if (leaving === 'condition_failed') this.#options.count('condition_failed', 1);
    return undefined;
  }

  /**
   * Sends the first batch.
   * @returns how many messages are finished, or all that come again
   */
  async #step(left: readonly Task[]): Promise<number | readonly SqsRecord[]> {
    const [head] = left;
    if (head === undefined) return 0;
    const { target } = head.open;
    const batch = this.#alone > 0 ? [head] : batchOf(left, target.batch);
    const failure = await target.send(batch.map(({ message }) => message));
    this.#alone = Math.max(0, this.#alone - 1);
    if (failure !== undefined) return await this.#failed(head.open, left, batch, failure);
    this.#options.count('sent', batch.length);
    return batch.length;
  }

  async #failed(
    { configuration: { name, retry } }: OpenRule,
    left: readonly Task[],
    batch: readonly Task[],
    { error, isPermanent, retryAfterMs = 0 }: Failure,
  ): Promise<number | readonly SqsRecord[]> {
    this.#options.count('failed_attempts', 1);
    this.#options.log.warn('rule-attempt-failed', { rule: name, topic: batch[0]?.message.topic, error });
    if (isPermanent && batch.length > 1) {
      this.#alone = batch.length;
      return 0;
    }
    const attempts = Math.max(...batch.map(({ record }) => receivesOf(record)));
    if (isPermanent || attempts >= retry.attempts) {
      // The target may still take the later ones.
      if (await this.#bury(left.slice(0, batch.length), error)) return batch.length;
      return await this.#giveBack(left, retry.delayMsMax / 1000);
    }
    const delayMs = Math.min(retry.firstDelayMs * 2 ** (attempts - 1), retry.delayMsMax);
    const wantedMs = Math.min(retryAfterMs, retry.delayMsMax);
    return await this.#giveBack(left, Math.max(delayMs, wantedMs) / 1000);
  }

  /** False if the queue of dead letters does not take them. */
  async #bury(tasks: readonly Received[], error: string): Promise<boolean> {
    const { deadLetters, log, count, clock } = this.#options;
    try {
      const failedAtMs = clock.now();
      await deadLetters.add(
        tasks.map(({ rule, message, record }) => {
          return { rule, message, error, attempts: receivesOf(record), failedAtMs };
        }),
      );
    } catch (cause) {
      log.error('rule-dead-letters-unavailable', { error: String(cause) });
      return false;
    }
    count('dead', tasks.length);
    for (const { rule, message } of tasks)
      log.warn('rule-dead-letter', { rule: rule.name, topic: message.topic, messageId: message.id, error });
    return true;
  }

  async #giveBack(tasks: readonly Task[], seconds: number): Promise<readonly SqsRecord[]> {
    const records = tasks.map(({ record }) => record);
    const whole = Math.min(GIVEN_BACK_SECONDS_MAX, Math.ceil(seconds));
    await this.#options.visibility.giveBack(records, whole);
    return records;
  }
}
