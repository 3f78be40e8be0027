import { type InvocationContext, PUBLISH_BYTES_MAX } from '@apus/aws';
import type { SqsBatchResponse, SqsEvent, SqsRecord } from '@apus/aws/lambda';
import type { PublishRequest } from '@apus/broker';
import { isUtf8, matches, publishLength, type UserProperties, validateTopicName } from '@apus/mqtt';
import { remoteOf, type TopicMapping } from '../configuration/mqtt.ts';
import { HOPS_PROPERTY, withHop } from '../hops.ts';
import type { Inbound } from './inbound.ts';
import type { IotCoreSource } from './iot-core-source.ts';
import { type Pending, publishInOrder, reasonOf } from './publish-in-order.ts';

export interface IotCoreHandlerOptions extends Omit<Inbound, 'sleep'> {
  readonly sources: readonly IotCoreSource[];
}

export type IotCoreHandler = (event: SqsEvent, context: InvocationContext) => Promise<SqsBatchResponse>;

/** The broker had no room for any message of an event. */
export class MessagesWait extends Error {
  override readonly name = 'MessagesWait';
}

/** A row that the SQL of the IoT rule has selected (`iotRuleSql`). */
export interface Selected {
  readonly topic: string;
  readonly payload: Buffer;
  readonly userProperties: UserProperties;
  readonly contentType: string | undefined;
}

/**
 * The function of the queue into which IoT rules put messages of AWS IoT Core: an event source with
 * `ReportBatchItemFailures`. A message leaves the queue when the broker has stored it. If the broker has no room, that
 * message and the later ones stay in the queue and come again. The function fails if all stay: an alarm watches that.
 */
export function createIotCoreHandler(options: IotCoreHandlerOptions): IotCoreHandler {
  return async ({ Records }, context) => {
    const pending = Records.flatMap((record) => pendingOf(options, record));
    const refused = (record: SqsRecord, error: string) => void skip(options, record, error);
    const { environment, published } = options;
    const { done, obstacle } = await publishInOrder({ environment, published, refused }, pending, context);
    if (obstacle !== undefined)
      options.log.warn('bridge-waits', { bridge: 'iot-core', error: reasonOf(obstacle) });
    const left = pending.slice(done);
    if (obstacle !== undefined && left.length === Records.length) throw new MessagesWait(reasonOf(obstacle));
    return { batchItemFailures: left.map(({ origin }) => ({ itemIdentifier: origin.messageId })) };
  };
}

/** None for a message that is invalid here or goes no further. */
function pendingOf(options: IotCoreHandlerOptions, record: SqsRecord): readonly Pending<SqsRecord>[] {
  const selected = selectedOf(record.body);
  if (selected === undefined) return skip(options, record, 'it is not what the SQL of the rule selects');
  const request = requestOf(options, selected);
  return 'problem' in request ? skip(options, record, request.problem) : [{ origin: record, request }];
}

function skip(
  { log, skipped }: IotCoreHandlerOptions,
  { messageId }: SqsRecord,
  error: string,
): readonly never[] {
  skipped();
  log.warn('bridge-message-skipped', { bridge: 'iot-core', messageId, error });
  return [];
}

/** Undefined if the property is something else. */
export function selectedOf(body: string): Selected | undefined {
  const value = parsed(body);
  if (typeof value !== 'object' || value === null) return undefined;
  const { topic, payload, hops, contentType } = value as Readonly<Record<string, unknown>>;
  if (typeof topic !== 'string' || typeof payload !== 'string') return undefined;
  const [crossed]: unknown[] = Array.isArray(hops) ? hops : [hops];
  return {
    topic,
    payload: Buffer.from(payload, 'base64'),
    userProperties: typeof crossed === 'string' ? [[HOPS_PROPERTY, crossed]] : [],
    contentType: typeof contentType === 'string' ? contentType : undefined,
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The message for a row of an IoT rule, or the reason why there is none. */
export function requestOf(
  { sources, topicLevelsMax }: Pick<IotCoreHandlerOptions, 'sources' | 'topicLevelsMax'>,
  { topic, payload, userProperties, contentType }: Selected,
): PublishRequest | { readonly problem: string } {
  const found = sourceOf(sources, topic);
  if (found === undefined) return { problem: 'no bridge has its topic' };
  const { source, mapping } = found;
  const local = mapping.localPrefix + topic.slice(mapping.remotePrefix.length);
  const invalid = validateTopicName(local, { topicLevelsMax });
  if (invalid !== undefined) return { problem: invalid.reason };
  const crossed = withHop(userProperties, source.hopsMax);
  if (crossed === undefined) return { problem: 'it has crossed as many bridges as it may' };
  const properties = {
    userProperties: crossed,
    ...(contentType !== undefined && isText(contentType) && { contentType }),
  };
  const request = { topic: local, payload, qos: mapping.qos, retain: false, properties };
  const bytes = publishLength({ type: 'publish', dup: false, packetId: 1, ...request }, 5);
  if (bytes > PUBLISH_BYTES_MAX) return { problem: `it has more than ${PUBLISH_BYTES_MAX} bytes` };
  return { tenant: source.tenant, ...request };
}

function sourceOf(
  sources: readonly IotCoreSource[],
  topic: string,
): { readonly source: IotCoreSource; readonly mapping: TopicMapping } | undefined {
  for (const source of sources) {
    const mapping = source.in.find((each) => matches(remoteOf(each), topic));
    if (mapping !== undefined) return { source, mapping };
  }
  return undefined;
}

/** U+0000 is valid UTF-8, but not allowed in an MQTT string. */
function isText(text: string): boolean {
  return isUtf8(Buffer.from(text)) && !text.includes('\0');
}
