import { type PublishRequest, Unavailable } from '@apus/broker';
import { type Environment, type InvocationContext, type PublishOutcome, publishAll } from '@apus/cloud';
import { ReasonCode, Violation } from '@apus/mqtt';

/** Messages of one event of the broker: what they cause leaves together. */
const CHUNK_LENGTH = 50;

/** A message, and where it comes from. */
export interface Pending<Origin> {
  readonly origin: Origin;
  readonly request: PublishRequest;
}

export interface PublishInOrderOptions<Origin> {
  readonly environment: Environment;
  /** Is told of messages that are durable here. */
  readonly published: (messages: number) => void;
  /** Is told of a message that the broker refuses for good. */
  readonly refused: (origin: Origin, error: string) => void;
}

/** The broker has no room for a message, or does not answer. */
export type Obstacle = Violation | Unavailable;

/**
 * Publishes messages one after another, as far as the broker takes them. Those that it refuses for good are left out.
 *
 * @returns how many at the beginning are done with, and what the next one met
 */
export async function publishInOrder<Origin>(
  options: PublishInOrderOptions<Origin>,
  messages: readonly Pending<Origin>[],
  context: InvocationContext,
): Promise<{ readonly done: number; readonly obstacle?: Obstacle }> {
  let done = 0;
  let chunkLength = CHUNK_LENGTH;
  while (done < messages.length) {
    const chunk = messages.slice(done, done + chunkLength);
    const requests = chunk.map(({ request }) => request);
    const progress = progressOf(options, chunk, await publishAll(options.environment, requests, context));
    done += progress.done;
    const { obstacle } = progress;
    // Of several nothing says which one can never be stored: one that is alone is known.
    const isOneOfSeveral = obstacle instanceof Unavailable && chunk.length > 1;
    if (obstacle !== undefined && !isOneOfSeveral) return { done, obstacle };
    chunkLength = isOneOfSeveral ? 1 : CHUNK_LENGTH;
  }
  return { done };
}

export function reasonOf(obstacle: Obstacle): string {
  return obstacle instanceof Violation ? obstacle.reason : obstacle.message;
}

function progressOf<Origin>(
  options: PublishInOrderOptions<Origin>,
  chunk: readonly Pending<Origin>[],
  outcomes: readonly PublishOutcome[],
): { readonly done: number; readonly obstacle?: Obstacle } {
  const at = outcomes.findIndex(isObstacle);
  options.published(at === -1 ? outcomes.length : at);
  const [obstacle, refused] = [outcomes[at], chunk[at]];
  if (obstacle === undefined || refused === undefined || !isObstacle(obstacle)) return { done: chunk.length };
  if (!isForGood(obstacle, chunk.length)) return { done: at, obstacle };
  options.refused(refused.origin, reasonOf(obstacle));
  return { done: at + 1 };
}

function isObstacle(outcome: PublishOutcome): outcome is Obstacle {
  return outcome instanceof Violation || outcome instanceof Unavailable;
}

/** The outbox cannot say which message of several does not fit into the store. */
function isForGood(obstacle: Obstacle, chunkLength: number): boolean {
  if (obstacle instanceof Unavailable)
    return chunkLength === 1 && obstacle.reasonCode === ReasonCode.PacketTooLarge;
  const isLater =
    obstacle.reasonCode === ReasonCode.QuotaExceeded || obstacle.reasonCode === ReasonCode.MessageRateTooHigh;
  return !isLater;
}
