import { type InvocationContext, PUBLISH_BYTES_MAX } from '@apus/aws';
import type { MessageOrigin } from '@apus/broker';
import { type KafkaRecord, requestOf } from '../kafka/record.ts';
import type { Inbound } from './inbound.ts';
import { type KafkaEvent, recordsOf } from './kafka-event.ts';
import type { KafkaMappings } from './kafka-source.ts';
import { type Obstacle, type Pending, publishInOrder, reasonOf } from './publish-in-order.ts';

/** The time until the function asks a broker without room again. */
const PAUSE_MS = 200;
/** With less time left the event fails, and Lambda sends all of it again. */
const RESERVE_MS = 10_000;

/** Records that an environment remembers: as many as the largest event has. */
const STORED_MAX = 1_000;

export interface KafkaHandlerOptions extends Inbound {
  readonly mappings: KafkaMappings;
}

export type KafkaHandler = (event: KafkaEvent, context: InvocationContext) => Promise<void>;

/** The broker had no room for a record for as long as the function may wait. */
export class RecordsWait extends Error {
  override readonly name = 'RecordsWait';
}

/**
 * The function of an event source mapping of Kafka. It publishes the records of an event one after another, and returns
 * when the broker has stored each message; then Lambda commits the offsets. If the function fails, Lambda keeps the
 * offsets and sends the event again: messages are repeated in their order, and none is lost.
 *
 *     const handler = createKafkaHandler({ environment, mappings, topicLevelsMax, sleep, log, published, skipped });
 */
export function createKafkaHandler(options: KafkaHandlerOptions): KafkaHandler {
  /** Records of events that failed whose messages are stored: this environment passes over them. */
  const stored = new Set<string>();
  return async (event, context) => {
    const left = recordsOf(event).filter((record) => !stored.has(nameOf(record)));
    const pending = left.flatMap((record) => pendingOf(options, record));
    let waiting = pending;
    const publishing = {
      ...{ environment: options.environment, published: options.published },
      refused: (record: KafkaRecord, error: string) => void skip(options, record, error),
    };
    try {
      while (waiting.length > 0) {
        const { done, obstacle } = await publishInOrder(publishing, waiting, context);
        waiting = waiting.slice(done);
        if (obstacle !== undefined) await pause(options, obstacle, context);
      }
    } catch (error) {
      for (const { origin } of pending.slice(0, pending.length - waiting.length))
        if (stored.size < STORED_MAX) stored.add(nameOf(origin));
      throw error;
    }
    for (const record of recordsOf(event)) stored.delete(nameOf(record));
  };
}

function nameOf({ topic, partition, offset }: KafkaRecord): string {
  return `${topic}:${partition}:${offset}`;
}

/** None for a record that cannot become a message or goes no further. */
function pendingOf(options: KafkaHandlerOptions, record: KafkaRecord): readonly Pending<KafkaRecord>[] {
  const { mappings, topicLevelsMax } = options;
  const mapping = mappings.in.find(({ topic }) => topic === record.topic);
  if (mapping === undefined) return skip(options, record, 'no mapping names its topic');
  const limits = { topicLevelsMax, publishBytesMax: PUBLISH_BYTES_MAX };
  const request = requestOf(record, mapping, mappings, limits);
  if (request === 'looped') return skip(options, record, 'it has crossed as many bridges as it may');
  if ('problem' in request) return skip(options, record, request.problem);
  return [{ origin: record, request: { ...request, origin: originOf(mappings, record) } }];
}

/** Lambda does not say which one a topic is that was made anew under its name: stores remember it for seconds. */
function originOf({ name }: KafkaMappings, { topic, partition, offset }: KafkaRecord): MessageOrigin {
  return { source: `kafka/${name}/${topic}/${partition}`, number: Number(offset) };
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

/** @throws {RecordsWait} if no time is left */
async function pause(
  { log, sleep, mappings: { name } }: KafkaHandlerOptions,
  obstacle: Obstacle,
  context: InvocationContext,
): Promise<void> {
  const error = reasonOf(obstacle);
  log.warn('bridge-waits', { bridge: name, error });
  if (context.getRemainingTimeInMillis() < RESERVE_MS + PAUSE_MS)
    throw new RecordsWait(`bridge ${name}: ${error}; Lambda sends the records again`);
  await sleep(PAUSE_MS);
}
