import { type PublishReceipt, type PublishRequest, Unavailable } from '@apus/broker';
import { Violation } from '@apus/mqtt';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events/gateway.ts';
import { flush, forsake } from '../frames/after.ts';
import { NotReached, type PublishOutcome } from './outcomes.ts';

/** With less time left no further message is begun: what was begun has to be posted and answered. */
const RESERVE_MS = 8_000;

/**
 * Publishes messages in their order, and waits until they have left: posted or stored for every recipient, or in the
 * queue of the workers. Behind one that could not be taken none is, as it would overtake it when it is sent again.
 *
 * Rejects for a defect only; what had been taken until then has left, and nobody was told.
 */
export async function publishAll(
  environment: Environment,
  requests: readonly PublishRequest[],
  context: InvocationContext,
): Promise<readonly PublishOutcome[]> {
  await environment.frameReader?.beginFrame();
  try {
    return await leave(environment, await takeEach(environment, requests, context));
  } catch (error) {
    forsake(environment);
    await flush(environment);
    throw error;
  } finally {
    environment.frameReader?.endFrame();
  }
}

async function takeEach(
  { broker, log }: Environment,
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

async function take(broker: Environment['broker'], request: PublishRequest): Promise<PublishOutcome> {
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

/** Jobs that the queue did not take are not promised, so none of the messages is; what is for others leaves all the same. */
async function leave(
  environment: Environment,
  outcomes: readonly PublishOutcome[],
): Promise<readonly PublishOutcome[]> {
  try {
    await flush(environment);
    return outcomes;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    environment.log.warn('publish-unavailable', { reason: error.message });
    forsake(environment);
    await flush(environment);
    return outcomes.map((outcome) => (isTaken(outcome) ? error : outcome));
  }
}
