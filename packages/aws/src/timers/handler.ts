import { type Clock, endsDelayed, type Log, type SessionRef, sessionKey, Unavailable } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events/gateway.ts';
import { NEWER } from '../events/queued-text.ts';
import { receivesOf, type SqsBatchResponse, type SqsEvent, type SqsRecord } from '../events/sqs.ts';
import type { JobQueue } from '../fan-out/job-queue.ts';
import { refreshBans } from '../identity/refresh-bans.ts';
import type { Cloud } from '../lambda/compose.ts';
import { inOneEvent } from '../outbox.ts';
import { inLanes } from '../posts/lanes.ts';
import { dueRequest } from './delayed-messages.ts';
import {
  type AnyTimer,
  type DelayedTimer,
  decodeTimer,
  type TickMessage,
  type TimerMessage,
} from './message.ts';
import type { SqsTimers } from './sqs-timers.ts';

/** A function with less time left begins no further timer: the effects of a timer still have to be posted. */
const RESERVE_MS = 5_000;

/** Timers of a batch that are handled side by side: each waits for the tables most of its time. */
export const PARALLEL_TIMERS_MAX = 10;

/**
 * Receipts after which a timer that fails, or that has ended its function, is poison. With the queue's visibility
 * timeout of 45 s that is a quarter of an hour: a deployment that goes back by itself after ten minutes loses none.
 */
export const TIMER_ATTEMPTS_MAX = 20;

/** A timer whose store, queue or quota has no room now comes again after this time. */
const PUT_OFF_SECONDS = 30;

/** For so long after it was due. */
const PUT_OFF_MS_MAX = 12 * 60 * 60 * 1_000;

export interface TimerHandlerOptions {
  /** `composeCloud()` of this function, with timers. */
  readonly cloud: Pick<Cloud, 'environment' | 'liveness' | 'unclosed' | 'ticks'>;
  readonly timers: SqsTimers;
  /** For timers that are given up: the dead-letter queue of the timers' queue, which has an alarm. */
  readonly deadLetters: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
}

export type TimerHandler = (event: SqsEvent, context: InvocationContext) => Promise<SqsBatchResponse>;

/** The broker has no room for a delayed message now. */
class NotYet extends Unavailable {
  override readonly name = 'NotYet';
  readonly reasonCode = ReasonCode.QuotaExceeded;
}

/**
 * The function of the timers' queue: an SQS event source with `ReportBatchItemFailures`. A timer that is not due is
 * armed again, for another hop or for the rest; a timer that is due fires.
 *
 *     const handler = createTimerHandler({ cloud, timers, deadLetters, clock, log });
 *
 * Never rejects for a timer: the answer lists the timers that come again when their visibility timeout ends.
 */
export function createTimerHandler(options: TimerHandlerOptions): TimerHandler {
  const { liveness, unclosed } = options.cloud;
  if (liveness === undefined || unclosed === undefined)
    throw new Error('a function with timers looks after connections');
  return async ({ Records }, context) => {
    const failed: SqsRecord[] = [];
    await refreshBans(options.cloud.environment);
    await inLanes(PARALLEL_TIMERS_MAX, Records, async (record) => {
      const hasTime = context.getRemainingTimeInMillis() >= RESERVE_MS;
      if (!hasTime || !(await isDone(options, record))) failed.push(record);
    });
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

async function isDone(options: TimerHandlerOptions, record: SqsRecord): Promise<boolean> {
  const timer = decodeTimer(record.body);
  const attempts = receivesOf(record);
  if (timer === NEWER) {
    options.log.warn('timer-newer', { messageId: record.messageId, attempts });
    return false;
  }
  if (timer === undefined) return await isBuried(options, record, 'it is no timer');
  if (attempts > TIMER_ATTEMPTS_MAX)
    return await isBuried(options, record, 'it ends its function, or the dead-letter queue was unavailable');
  try {
    await handle(options, timer);
    return true;
  } catch (error) {
    if (error instanceof Unavailable) return await isPutOff(options, record, timer, error);
    options.log.error('timer-failed', { ...namesOf(timer), attempts, error: textOf(error) });
    return attempts === TIMER_ATTEMPTS_MAX && (await isBuried(options, record, String(error)));
  }
}

/** As a new message: a wait for a service is no attempt of the timer. */
async function isPutOff(
  options: TimerHandlerOptions,
  record: SqsRecord,
  timer: AnyTimer,
  { message: reason }: Unavailable,
): Promise<boolean> {
  const { timers, clock, log } = options;
  if (clock.now() - timer.dueAtMs > PUT_OFF_MS_MAX) return await isBuried(options, record, reason);
  log.warn('timer-put-off', { ...namesOf(timer), reason });
  return await timers.armAgain(timer, PUT_OFF_SECONDS).then(
    () => true,
    () => false,
  );
}

/** The alarm of the dead-letter queue goes off at once. */
async function isBuried(
  { deadLetters, log }: TimerHandlerOptions,
  record: SqsRecord,
  why: string,
): Promise<boolean> {
  const { messageId, body } = record;
  log.error('timer-dead-letter', { messageId, why, attempts: receivesOf(record) });
  try {
    await deadLetters.send([{ body }]);
    return true;
  } catch (error) {
    log.error('timer-dead-letter-refused', { messageId, error: String(error) });
    return false;
  }
}

function namesOf(timer: AnyTimer): object {
  const { kind } = timer;
  if (kind === 'tick') return { kind, room: timer.room };
  if (kind === 'conflation') return { kind, topicFilter: timer.topicFilter };
  return kind === 'delayed'
    ? { kind, topic: timer.message.topic }
    : { kind, connectionId: timer.connectionId };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function handle(options: TimerHandlerOptions, timer: AnyTimer): Promise<void> {
  const { cloud, timers, clock } = options;
  const { environment, liveness, unclosed } = cloud;
  if (timer.kind === 'delayed' && isOfBanned(environment, timer)) return;
  if (timer.dueAtMs > clock.now()) return await timers.armAgain(timer);
  if (timer.kind === 'tick') return await tick(options, timer);
  if (timer.kind === 'delayed') return await publishDue(options, timer);
  if (timer.kind === 'conflation')
    return await inOneEvent(environment, ({ broker }) => broker.tellConflated(timer, timer.tickId));
  if (timer.kind === 'connect') return await environment.connectDeadline?.fire(timer.connectionId);
  if (timer.kind === 'close') return await unclosed?.fire(timer);
  const { kind } = timer;
  await inOneEvent(environment, (outbox) =>
    kind === 'liveness'
      ? liveness?.check(outbox, timer)
      : outbox.broker.fire({ ...timer, kind, session: sessionOf(timer) }),
  );
}

/** A message of a banned client leaves the queue at its next hop [SEC-POOL-2]. */
function isOfBanned({ bans }: Environment, { publisher }: DelayedTimer): boolean {
  if (publisher === undefined) return false;
  const { identity, clientId } = publisher;
  const ban = bans?.banOn(identity, clientId, identity.address);
  return ban !== undefined && endsDelayed(ban);
}

/** Publishes before the message leaves the queue: if the process dies in between, it is published twice. */
async function publishDue(
  { cloud: { environment }, clock, log }: TimerHandlerOptions,
  timer: DelayedTimer,
): Promise<void> {
  const request = dueRequest(timer, clock.now());
  if (request === undefined) return;
  const answer = await inOneEvent(environment, ({ broker }) => broker.publish(request));
  if (!(answer instanceof Violation)) return;
  if (answer.reasonCode === ReasonCode.QuotaExceeded) throw new NotYet(answer.reason);
  log.warn('delayed-message-refused', { topic: request.topic, reason: answer.reason });
}

/** Tells the changes of a room. If that fails the message comes again, and the changes with it. */
async function tick(
  { cloud: { environment, ticks } }: TimerHandlerOptions,
  { tenant, room }: TickMessage,
): Promise<void> {
  if (ticks === undefined) return;
  await ticks.disarm(tenant, room);
  await inOneEvent(environment, (outbox) => outbox.broker.tellRoom(tenant, room));
}

function sessionOf({ session: { tenant, clientId, incarnation } }: TimerMessage): SessionRef {
  return { key: sessionKey(tenant, clientId), tenant, clientId, incarnation, attachment: undefined };
}
