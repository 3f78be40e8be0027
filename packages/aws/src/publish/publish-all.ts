import {
  type Broker,
  type Log,
  type PublishReceipt,
  type PublishRequest,
  reasonOf,
  Unavailable,
} from '@apus/broker';
import { NotReached, type Published, type PublishOutcome } from '@apus/door';
import { Violation } from '@apus/mqtt';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events/gateway.ts';
import { CLOCK_AHEAD_MS_MAX } from '../options.ts';
import { inOneEvent } from '../outbox.ts';

/** A request with less time left begins no further message: those under way still have to be posted and answered. */
const RESERVE_MS = 8_000;

/**
 * Publishes messages in their order, and waits until they have left: posted or stored for every recipient, or in the
 * queue of the workers. After a message that could not be accepted, no further one is accepted: it would overtake the
 * first when that is sent again.
 *
 * Rejects only for a defect. Messages that were accepted before may have left, although the caller was not told.
 */
export async function publishAll(
  environment: Environment,
  requests: readonly PublishRequest[],
  context: InvocationContext,
  seen?: string,
): Promise<Published> {
  let clock = environment.messageClock.read();
  let outcomes: readonly PublishOutcome[] = [];
  try {
    await inOneEvent(environment, async ({ broker, usage }) => {
      if (seen !== undefined) broker.messageClock.observe(seen, CLOCK_AHEAD_MS_MAX);
      outcomes = await takeEach(broker, environment.log, requests, context);
      clock = broker.messageClock.read();
      usage?.isOf(requests[0]?.tenant);
      for (const [index, outcome] of outcomes.entries())
        if (isTaken(outcome)) usage?.messageIn(requests[index]?.payload.length);
    });
    return { outcomes, clock };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    environment.log.warn('publish-unavailable', { reason: reasonOf(error) });
    // The error does not say which message is not in all its queues, so none is promised.
    return { outcomes: outcomes.map((outcome) => (isTaken(outcome) ? error : outcome)), clock };
  }
}

async function takeEach(
  broker: Broker,
  log: Log,
  requests: readonly PublishRequest[],
  context: InvocationContext,
): Promise<readonly PublishOutcome[]> {
  const outcomes: PublishOutcome[] = [];
  let obstacle: string | undefined;
  for (const request of requests) {
    if (context.getRemainingTimeInMillis() < RESERVE_MS) obstacle ??= 'there is no time left for it';
    if (obstacle !== undefined) {
      outcomes.push(new NotReached(`not taken: ${obstacle}; send it again`));
      continue;
    }
    const outcome = await take(broker, request);
    outcomes.push(outcome);
    if (isTaken(outcome)) continue;
    obstacle = 'one before it was not';
    log.warn('publish-refused', { reasonCode: outcome.reasonCode, topic: request.topic });
  }
  return outcomes;
}

async function take(broker: Broker, request: PublishRequest): Promise<PublishOutcome> {
  try {
    return await broker.publish(request);
  } catch (error) {
    if (error instanceof Unavailable) return error;
    throw error;
  }
}

function isTaken(outcome: PublishOutcome): outcome is PublishReceipt {
  return !(outcome instanceof Violation || outcome instanceof Unavailable);
}
