import { type Environment, type InvocationContext, publishAll } from '@apus/aws';
import { type PublishRequest, Unavailable } from '@apus/broker';
import type { PublishOutcome } from '@apus/door';
import { ReasonCode, Violation } from '@apus/mqtt';

/** Messages in one event of the broker: the packets that they cause are posted together. */
const CHUNK_LENGTH = 50;

/** A message, and its source. */
export interface Pending<Origin> {
  readonly origin: Origin;
  readonly request: PublishRequest;
}

export interface PublishInOrderOptions<Origin> {
  readonly environment: Environment;
  /** Called for messages that the broker has stored. */
  readonly published: (messages: number) => void;
  /** Called for a message that the broker refuses for good. */
  readonly refused: (origin: Origin, error: string) => void;
}

/** The broker has no room for a message, or does not answer. */
export type Obstacle = Violation | Unavailable;

/**
 * Publishes messages one after another, until the broker takes no more. Messages that the broker refuses for good are
 * left out.
 *
 * @returns how many from the beginning are finished, and the outcome of the next one
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
    const { outcomes } = await publishAll(options.environment, requests, context);
    const progress = progressOf(options, chunk, outcomes);
    done += progress.done;
    const { obstacle } = progress;
    // A failure of several messages does not tell which of them can never be stored: that is known of a single message
    // only.
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

/** The outbox cannot tell which of several messages does not fit into the store. */
function isForGood(obstacle: Obstacle, chunkLength: number): boolean {
  if (obstacle instanceof Unavailable)
    return chunkLength === 1 && obstacle.reasonCode === ReasonCode.PacketTooLarge;
  const isLater =
    obstacle.reasonCode === ReasonCode.QuotaExceeded || obstacle.reasonCode === ReasonCode.MessageRateTooHigh;
  return !isLater;
}
