import { type Clock, type Log, type SessionRef, sessionKey } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { Liveness } from '../connections/liveness.ts';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events/gateway.ts';
import type { SqsBatchResponse, SqsEvent, SqsRecord } from '../events/sqs.ts';
import type { JobQueue } from '../fan-out/job-queue.ts';
import { refreshBans } from '../identity/refresh-bans.ts';
import { inOneEvent } from '../outbox.ts';
import { dueRequest } from './delayed-messages.ts';
import {
  type AnyTimer,
  type DelayedTimer,
  decodeTimer,
  type TickMessage,
  type TimerMessage,
} from './message.ts';
import type { RoomTicks } from './room-ticks.ts';
import type { SqsTimers } from './sqs-timers.ts';

/** A batch with less time left fires no further timer: the effects of a timer still have to be posted. */
const RESERVE_MS = 5_000;

export interface TimerHandlerOptions {
  readonly environment: Environment;
  readonly timers: SqsTimers;
  readonly liveness: Liveness;
  /** If there are rooms. @default a tick of a room does nothing */
  readonly ticks?: RoomTicks | undefined;
  /** For messages that are no timers: the dead-letter queue of the timers' queue, which has an alarm. */
  readonly deadLetters: JobQueue;
  readonly clock: Clock;
  readonly log: Log;
}

export type TimerHandler = (event: SqsEvent, context: InvocationContext) => Promise<SqsBatchResponse>;

/**
 * The function of the timers' queue: an SQS event source with `ReportBatchItemFailures`. A timer that is not due is
 * armed again, for another hop or for the rest; a timer that is due fires. A timer that fails comes again when its
 * visibility timeout ends.
 *
 *     const handler = createTimerHandler({ environment, timers, liveness, deadLetters, clock, log });
 *
 * Never rejects for a timer: the answer lists the timers that come again.
 */
export function createTimerHandler(options: TimerHandlerOptions): TimerHandler {
  return async ({ Records }, context) => {
    const failed: SqsRecord[] = [];
    await refreshBans(options.environment);
    for (const record of Records) {
      const hasTime = context.getRemainingTimeInMillis() >= RESERVE_MS;
      if (!hasTime || !(await isHandled(options, record))) failed.push(record);
    }
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

async function isHandled(options: TimerHandlerOptions, record: SqsRecord): Promise<boolean> {
  const timer = decodeTimer(record.body);
  try {
    if (timer === undefined) await bury(options, record);
    else await handle(options, timer);
    return true;
  } catch (error) {
    options.log.error('timer-failed', {
      kind: timer?.kind,
      ...(timer && subjectOf(timer)),
      error: textOf(error),
    });
    return false;
  }
}

function subjectOf(timer: AnyTimer): object {
  if (timer.kind === 'tick') return { room: timer.room };
  if (timer.kind === 'conflation') return { topicFilter: timer.topicFilter };
  return timer.kind === 'delayed' ? { topic: timer.message.topic } : { connectionId: timer.connectionId };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Buries a message that would fail for ever. The alarm of the dead-letter queue fires at once. */
async function bury({ deadLetters, log }: TimerHandlerOptions, { messageId, body }: SqsRecord) {
  log.error('timer-unreadable', { messageId });
  await deadLetters.send([{ body }]);
}

async function handle(options: TimerHandlerOptions, timer: AnyTimer): Promise<void> {
  const { environment, timers, liveness, clock } = options;
  if (timer.dueAtMs > clock.now()) return await timers.armAgain(timer);
  if (timer.kind === 'tick') return await tick(options, timer);
  if (timer.kind === 'delayed') return await publishDue(options, timer);
  if (timer.kind === 'conflation')
    return await inOneEvent(environment, ({ broker }) => broker.tellConflated(timer, timer.tickId));
  if (timer.kind === 'connect') return await environment.connectDeadline?.fire(timer.connectionId);
  const { kind } = timer;
  await inOneEvent(environment, (outbox) =>
    kind === 'liveness'
      ? liveness.check(outbox, timer)
      : outbox.broker.fire({ ...timer, kind, session: sessionOf(timer) }),
  );
}

/** Publishes before the message leaves the queue: if the process dies in between, it is published twice. */
async function publishDue(
  { environment, clock, log }: TimerHandlerOptions,
  timer: DelayedTimer,
): Promise<void> {
  const request = dueRequest(timer, clock.now());
  if (request === undefined) return;
  const answer = await inOneEvent(environment, ({ broker }) => broker.publish(request));
  if (!(answer instanceof Violation)) return;
  log.warn('delayed-message-refused', { topic: request.topic, reason: answer.reason });
  // It comes again when its visibility timeout ends.
  if (answer.reasonCode === ReasonCode.QuotaExceeded) throw new Error(answer.reason);
}

/** Tells the changes of a room. If that fails the message comes again, and the changes with it. */
async function tick(
  { environment, ticks }: TimerHandlerOptions,
  { tenant, room }: TickMessage,
): Promise<void> {
  if (ticks === undefined) return;
  await ticks.disarm(tenant, room);
  await inOneEvent(environment, (outbox) => outbox.broker.tellRoom(tenant, room));
}

function sessionOf({ session: { tenant, clientId, incarnation } }: TimerMessage): SessionRef {
  return { key: sessionKey(tenant, clientId), tenant, clientId, incarnation, attachment: undefined };
}
