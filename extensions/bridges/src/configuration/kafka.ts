import { ConfigurationError, Fields } from '@apus/identity';
import { intersects, type QoS, validateTopicFilter, validateTopicName } from '@apus/mqtt';
import { type BridgeCommon, HOPS_MAX } from './common.ts';
import { readKafkaOnAws } from './kafka-on-aws.ts';
import { countOf, qosOf } from './numbers.ts';
import { type Place, secretOf } from './place.ts';
import { filled, type Template, templateOf } from './template.ts';
import { type TlsConfiguration, tlsOf } from './tls.ts';

/** Makes messages from the records of one Kafka topic. */
export interface KafkaInMapping {
  readonly topic: string;
  /** The MQTT topic, with `{key}`, `{topic}` and `{partition}`. */
  readonly to: Template;
  readonly qos: QoS;
  /** For compacted topics: the last value of a key is retained, and a record without a value removes it. */
  readonly retain: boolean;
}

/** Makes records of one Kafka topic from messages. */
export interface KafkaOutMapping {
  readonly filter: string;
  readonly topic: string;
  /** The key; `{topic}` is the MQTT topic, and `{1}`, `{2}`, … are its levels. */
  readonly key: Template;
}

export interface SaslConfiguration {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  readonly username: string;
  readonly password: string;
}

/** How to reach a Kafka cluster, and the limits of the records that it gets. */
export interface KafkaConnection {
  /** `host:port` of some of the brokers. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly tls: TlsConfiguration | undefined;
  readonly sasl: SaslConfiguration | undefined;
  /** How long a publisher waits for Kafka before the broker refuses its message. */
  readonly waitSeconds: number;
  /** The bridge refuses larger records, before Kafka would. */
  readonly recordBytesMax: number;
}

/** A bridge to a cluster of Kafka. */
export interface KafkaBridgeConfiguration extends BridgeCommon, KafkaConnection {
  readonly kind: 'kafka';
  /** The consumer group. */
  readonly group: string;
  /** Where a group without offsets begins. */
  readonly from: 'earliest' | 'latest';
  readonly in: readonly KafkaInMapping[];
  /**
   * Topics of Kafka that come in as `TOPIC/KEY`: names, or the beginnings of names with `*` behind them.
   * @default those of `in` alone
   */
  readonly topics?: readonly string[];
  readonly out: readonly KafkaOutMapping[];
}

/** The fields of a connection, without a consumer group. */
export const KAFKA_FIELDS = ['brokers', 'clientId', 'tls', 'sasl', 'waitSeconds', 'recordBytesMax'];
const CONNECTION_FIELDS = [...KAFKA_FIELDS, 'group', 'from', 'aws'];
const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;
const KAFKA_TOPIC = /^[A-Za-z0-9._-]{1,249}$/;
const ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[^\s:/]+):(\d{1,5})$/;
const WAIT_SECONDS = 10;
const WAIT_SECONDS_MAX = 60;
/** Below the default of Kafka's `max.message.bytes`, 1,048,588, which counts headers and framing. */
const RECORD_BYTES_MAX = 1_000_000;
const RECORD_BYTES_MAX_MAX = 100_000_000;

export function readKafkaBridge(
  fields: Fields,
  common: BridgeCommon,
  place: Place,
): KafkaBridgeConfiguration {
  const connection = connectionFields(fields);
  // A deployment reads the same file, so the fields for a deployment are checked here too.
  readKafkaOnAws(connection);
  const bridge: KafkaBridgeConfiguration = {
    ...common,
    kind: 'kafka',
    ...readKafkaConnection(connection, common.name, place),
    ...readGroup(connection, common.name),
    in: readKafkaIn(fields),
    out: (fields.list('out') ?? []).map((each, index) => readOut(each, `${fields.where}.out[${index}]`)),
  };
  checkMappings(bridge, fields);
  return bridge;
}

/** The name of the bridge of a file that says only where Kafka is. */
const NAME = 'kafka';
const TOPIC_PATTERN = /^[A-Za-z0-9._-]{0,249}\*?$/;

/** `{"kafka": "127.0.0.1:9092"}`, and `topics` if not all are to come in. */
export function readWholeKafka(value: unknown, place: Place): KafkaBridgeConfiguration {
  const fields = new Fields(value, place.where, ['kafka', 'topics']);
  const brokers = fields.requiredText('kafka', 'addresses as "kafka.example:9092".').split(',');
  const connection = new Fields({ brokers }, `${place.where}.kafka`, CONNECTION_FIELDS);
  const topics = fields.texts('topics') ?? ['*'];
  const invalid = topics.find((topic) => topic === '' || !TOPIC_PATTERN.test(topic));
  if (invalid !== undefined)
    fields.fail(
      'topics',
      `has to be names of topics, or their beginnings with "*", not ${JSON.stringify(invalid)}.`,
    );
  return {
    ...{ kind: 'kafka', name: NAME, tenant: 'default', hopsMax: HOPS_MAX },
    ...readKafkaConnection(connection, NAME, place),
    ...readGroup(connection, NAME),
    ...{ in: [], topics, out: [] },
  };
}

/** The mapping of a topic of which the file has only the name, or its beginning. */
export function wholeTopic(
  { topics = [] }: Pick<KafkaBridgeConfiguration, 'topics'>,
  topic: string,
): KafkaInMapping | undefined {
  const isMeant = topics.some((each) =>
    each.endsWith('*') ? topic.startsWith(each.slice(0, -1)) : topic === each,
  );
  return isMeant ? { topic, to: TOPIC_AND_KEY, qos: 1, retain: false } : undefined;
}

const TOPIC_AND_KEY: Template = { text: '{topic}/{key}', names: ['topic', 'key'] };

export function connectionFields(fields: Fields): Fields {
  return new Fields(fields.raw('kafka'), `${fields.where}.kafka`, CONNECTION_FIELDS);
}

/** The name of a consumer group, and where it begins. */
export function readGroup(
  connection: Fields,
  name: string,
): Pick<KafkaBridgeConfiguration, 'group' | 'from'> {
  return {
    group: connection.text('group') ?? `apus-${name}`,
    from: connection.oneOf('from', ['earliest', 'latest']) ?? 'earliest',
  };
}

export function readKafkaConnection(fields: Fields, name: string, place: Place): KafkaConnection {
  return {
    brokers: brokersOf(fields),
    clientId: fields.text('clientId') ?? `apus-${name}`,
    tls: tlsOf(fields, place),
    sasl: saslOf(fields, place),
    waitSeconds: countOf(fields, 'waitSeconds', 1, WAIT_SECONDS_MAX, WAIT_SECONDS),
    recordBytesMax: countOf(fields, 'recordBytesMax', 1, RECORD_BYTES_MAX_MAX, RECORD_BYTES_MAX),
  };
}

export function brokersOf(fields: Fields): readonly string[] {
  const brokers =
    fields.texts('brokers') ?? fields.fail('brokers', 'is missing: addresses as "kafka.example:9092".');
  for (const broker of brokers) {
    const [, , port = ''] = ADDRESS.exec(broker) ?? [];
    if (Number(port) < 1 || Number(port) > 65_535 || port === '')
      fields.fail('brokers', `has to be addresses as "kafka.example:9092", not ${JSON.stringify(broker)}.`);
  }
  return brokers;
}

function saslOf(parent: Fields, place: Place): SaslConfiguration | undefined {
  const value = parent.raw('sasl');
  if (value === undefined) return undefined;
  const fields = new Fields(value, `${parent.where}.sasl`, ['mechanism', 'username', 'password']);
  return {
    mechanism:
      fields.oneOf('mechanism', MECHANISMS) ??
      fields.fail('mechanism', `is one of ${MECHANISMS.join(', ')}.`),
    username: fields.requiredText('username', 'SASL needs one.'),
    password: secretOf(fields, 'password', place) ?? fields.fail('password', 'is missing: SASL needs one.'),
  };
}

export function kafkaTopicOf(fields: Fields): string {
  const topic = fields.requiredText('topic', 'the Kafka topic.');
  if (KAFKA_TOPIC.test(topic) && topic !== '.' && topic !== '..') return topic;
  return fields.fail('topic', 'has to have 1 to 249 letters, digits, ".", "_" and "-", as Kafka wants.');
}

/** @throws {ConfigurationError} if two mappings share topics */
export function readKafkaIn(fields: Fields): readonly KafkaInMapping[] {
  const { where } = fields;
  const into = (fields.list('in') ?? []).map((each, index) => readIn(each, `${where}.in[${index}]`));
  for (const [index, one] of into.entries()) {
    const other = into.findIndex(
      (each, at) => at < index && (each.topic === one.topic || intersects(targetOf(each), targetOf(one))),
    );
    if (other !== -1)
      throw new ConfigurationError(
        `${where}.in[${index}] has topics in common with ${where}.in[${other}]: both read ${one.topic}, or both lead to topics of ${targetOf(one)}.`,
      );
  }
  return into;
}

function readIn(value: unknown, where: string): KafkaInMapping {
  const fields = new Fields(value, where, ['topic', 'to', 'qos', 'retain']);
  const topic = kafkaTopicOf(fields);
  const text = fields.requiredText('to', 'the MQTT topic, as prices/{key}.');
  const known = '{key}, {topic} and {partition}';
  const to = templateOf(fields, 'to', text, (name) => ['key', 'topic', 'partition'].includes(name), known);
  const invalid = validateTopicName(filled(to, () => 'x'));
  if (invalid !== undefined) fields.fail('to', `is no topic of MQTT. ${invalid.reason}.`);
  if (text.startsWith('$')) fields.fail('to', "begins with $: such topics are the broker's own.");
  return { topic, to, qos: qosOf(fields, 1), retain: fields.flag('retain') ?? false };
}

function readOut(value: unknown, where: string): KafkaOutMapping {
  const fields = new Fields(value, where, ['filter', 'topic', 'key', 'merge']);
  const filter = fields.requiredText('filter', 'the MQTT topics that leave, as orders/#.');
  const invalid = validateTopicFilter(filter);
  if (invalid !== undefined) fields.fail('filter', `is no topic filter. ${invalid.reason}.`);
  if (filter.startsWith('$')) fields.fail('filter', "begins with $: such topics are the broker's own.");
  const levels = filter.split('/');
  const allows = (name: string) =>
    name === 'topic' || (/^[1-9]\d?$/.test(name) && mayHave(levels, Number(name)));
  const known = '{topic}, and {1}, {2}, … for its levels';
  const key = templateOf(fields, 'key', fields.text('key') ?? '{topic}', allows, known);
  const lost = levels.findIndex((level, at) => isLost(level, at, key.names));
  if (lost !== -1 && fields.flag('merge') !== true)
    fields.fail(
      'key',
      `maps two topics onto one: level ${lost + 1} of ${filter} is not in it. Add {${levels[lost] === '#' ? 'topic' : lost + 1}}, or "merge": true if that is meant.`,
    );
  return { filter, topic: kafkaTopicOf(fields), key };
}

function mayHave(levels: readonly string[], number: number): boolean {
  return number <= levels.length || levels.at(-1) === '#';
}

/** A wildcard level that the key does not contain. */
function isLost(level: string, at: number, names: readonly string[]): boolean {
  if (names.includes('topic')) return false;
  return level === '#' || (level === '+' && !names.includes(String(at + 1)));
}

function checkMappings({ in: into, out }: KafkaBridgeConfiguration, fields: Fields): void {
  const { where } = fields;
  if (into.length + out.length === 0) fields.fail('in', 'and "out" are empty: nothing would cross.');
  for (const [index, one] of out.entries()) {
    const other = out.findIndex((each, at) => at < index && intersects(each.filter, one.filter));
    if (other !== -1)
      throw new ConfigurationError(
        `${where}.out[${index}] has topics in common with ${where}.out[${other}].`,
      );
    const back = into.find(({ topic }) => topic === one.topic);
    if (back !== undefined && intersects(targetOf(back), one.filter))
      throw new ConfigurationError(
        `${where}.out[${index}] and "in" would send messages round: ${one.topic} comes in as ${targetOf(back)}, and ${one.filter} goes out to it.`,
      );
  }
}

/** A filter that matches the topics of a template: a key may have more than one level. */
function targetOf({ to, topic }: KafkaInMapping): string {
  const parts = filled(to, (name) => (name === 'topic' ? topic : `{${name}}`)).split('/');
  const keyAt = parts.findIndex((part) => part.includes('{key}'));
  const levels = parts.map((part) => (part.includes('{') ? '+' : part));
  return (keyAt === -1 ? levels : [...levels.slice(0, keyAt), '#']).join('/');
}
