import { type Log, type PublishRequest, Unavailable } from '@apus/broker';
import {
  type Environment,
  type InvocationContext,
  PUBLISH_BYTES_MAX,
  type PublishOutcome,
  publishAll,
} from '@apus/cloud';
import { ReasonCode, Violation } from '@apus/mqtt';
import { type KafkaRecord, requestOf } from '../kafka/record.ts';
import { type KafkaEvent, recordsOf } from './kafka-event.ts';
import type { KafkaMappings } from './kafka-source.ts';

/** Messages of one event of the broker: what they cause leaves together. */
const CHUNK_LENGTH = 50;
/** Until the broker is asked again, where it has no room now. */
const PAUSE_MS = 200;
/** With less time left the event fails. It comes again as a whole. */
const RESERVE_MS = 10_000;

export interface KafkaHandlerOptions {
  readonly environment: Environment;
  readonly mappings: KafkaMappings;
  readonly topicLevelsMax: number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
  /** Is told of messages that are durable here. */
  readonly published: (messages: number) => void;
  /** Is told of records that can be no message, and of messages that the broker refuses for good. */
  readonly skipped: () => void;
}

export type KafkaHandler = (event: KafkaEvent, context: InvocationContext) => Promise<void>;

/** The broker has had no room for a record for as long as the function may wait. */
export class RecordsWait extends Error {
  override readonly name = 'RecordsWait';
}

/** A message, and the record that it comes from. */
interface Pending {
  readonly record: KafkaRecord;
  readonly request: PublishRequest;
}

/**
 * The function of an event source mapping of Kafka. It publishes the records of an event one after another, and returns
 * when each message is durable here; then Lambda commits the offsets. Where the function fails Lambda keeps the offsets
 * and sends the event again: messages are repeated, in their order, and none is lost.
 *
 *     const handler = createKafkaHandler({ environment, mappings, topicLevelsMax, sleep, log, published, skipped });
 */
export function createKafkaHandler(options: KafkaHandlerOptions): KafkaHandler {
  return async (event, context) => {
    let waiting: readonly Pending[] = recordsOf(event).flatMap((record) => pendingOf(options, record));
    let chunkLength = CHUNK_LENGTH;
    while (waiting.length > 0) {
      const chunk = waiting.slice(0, chunkLength);
      const outcomes = await publishAll(
        options.environment,
        chunk.map(({ request }) => request),
        context,
      );
      const { done, obstacle } = settle(options, chunk, outcomes);
      waiting = waiting.slice(done);
      // One that can never be stored is known by being alone.
      chunkLength = obstacle instanceof Unavailable ? 1 : CHUNK_LENGTH;
      if (obstacle !== undefined) await pause(options, obstacle, context);
    }
  };
}

/** None for a record that can be no message, or goes no further. */
function pendingOf(options: KafkaHandlerOptions, record: KafkaRecord): readonly Pending[] {
  const { mappings, topicLevelsMax } = options;
  const mapping = mappings.in.find(({ topic }) => topic === record.topic);
  if (mapping === undefined) return skip(options, record, 'no mapping names its topic');
  const limits = { topicLevelsMax, publishBytesMax: PUBLISH_BYTES_MAX };
  const request = requestOf(record, mapping, mappings, limits);
  if (request === 'looped') return skip(options, record, 'it has crossed as many bridges as it may');
  return 'problem' in request ? skip(options, record, request.problem) : [{ record, request }];
}

function skip(
  { log, skipped, mappings: { name } }: KafkaHandlerOptions,
  { topic, partition, offset }: KafkaRecord,
  error: string,
): readonly never[] {
  skipped();
  log.warn('bridge-record-skipped', { bridge: name, topic, partition, offset: String(offset), error });
  return [];
}

type Obstacle = Violation | Unavailable;

/** How many messages at the beginning are done with, and what the next one met. */
function settle(
  options: KafkaHandlerOptions,
  chunk: readonly Pending[],
  outcomes: readonly PublishOutcome[],
): { readonly done: number; readonly obstacle?: Obstacle | undefined } {
  const at = outcomes.findIndex(isObstacle);
  options.published(at === -1 ? outcomes.length : at);
  const [obstacle, refused] = [outcomes[at], chunk[at]];
  if (obstacle === undefined || refused === undefined || !isObstacle(obstacle)) return { done: chunk.length };
  if (!isForGood(obstacle, chunk.length)) return { done: at, obstacle };
  skip(options, refused.record, obstacle instanceof Violation ? obstacle.reason : obstacle.message);
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

/** @throws {RecordsWait} where there is no time left */
async function pause(
  { log, sleep, mappings: { name } }: KafkaHandlerOptions,
  obstacle: Obstacle,
  context: InvocationContext,
): Promise<void> {
  const error = obstacle instanceof Violation ? obstacle.reason : obstacle.message;
  log.warn('bridge-waits', { bridge: name, error });
  if (context.getRemainingTimeInMillis() < RESERVE_MS + PAUSE_MS)
    throw new RecordsWait(`bridge ${name}: ${error}; Lambda sends the records again`);
  await sleep(PAUSE_MS);
}
