import { Fields } from '@apus/identity';
import { type QoS, validateTopicName } from '@apus/mqtt';
import {
  KAFKA_FIELDS,
  type KafkaConnection,
  kafkaTopicOf,
  readKafkaConnection,
} from '../../configuration/kafka.ts';
import { countOf, qosOf } from '../../configuration/numbers.ts';
import type { Place } from '../../configuration/place.ts';
import { filled, type Template } from '../../configuration/template.ts';
import { type AwsTarget, readEventBridge, readLambda, readSqs } from './aws.ts';
import { IOT_CORE_TARGET_FIELDS, type IotCoreTargetConfiguration, readIotCoreTarget } from './iot-core.ts';
import { topicTemplateOf } from './topic-template.ts';
import { readWebhook, type WebhookConfiguration } from './webhook.ts';

/** Records of one topic of Kafka. */
export interface KafkaTargetConfiguration extends KafkaConnection {
  readonly kind: 'kafka';
  readonly topic: string;
  readonly key: Template;
}

/** Another topic of this broker. */
export interface PublishConfiguration {
  readonly kind: 'publish';
  readonly topic: Template;
  /** Undefined: the QoS of the message. */
  readonly qos: QoS | undefined;
  readonly retain: boolean;
}

export type TargetConfiguration =
  | WebhookConfiguration
  | KafkaTargetConfiguration
  | PublishConfiguration
  | IotCoreTargetConfiguration
  | AwsTarget;

type Read = (fields: Fields, filter: string, name: string, place: Place) => TargetConfiguration;

const TARGETS: Readonly<Record<string, { readonly fields: readonly string[]; readonly read: Read }>> = {
  webhook: {
    fields: ['url', 'secret', 'headers', 'timeoutSeconds', 'batch', 'allowAddresses', 'ca'],
    read: (fields, _filter, _name, place) => readWebhook(fields, place),
  },
  // `aws` is for a deployment (lambda/kafka-network.ts).
  kafka: { fields: [...KAFKA_FIELDS, 'topic', 'key', 'aws'], read: readKafka },
  publish: { fields: ['topic', 'qos', 'retain', 'delaySeconds'], read: readPublish },
  sqs: { fields: ['queueUrl', 'region', 'endpoint'], read: readSqs },
  eventBridge: { fields: ['bus', 'source', 'detailType', 'region', 'endpoint'], read: readEventBridge },
  lambda: {
    fields: ['function', 'invocationType', 'timeoutSeconds', 'region', 'endpoint'],
    read: readLambda,
  },
  iotCore: { fields: IOT_CORE_TARGET_FIELDS, read: readIotCoreTarget },
};

export function readTarget(value: unknown, filter: string, name: string, place: Place): TargetConfiguration {
  const kinds = Object.keys(TARGETS);
  const fields = new Fields(value, place.where, kinds);
  const [kind = '', other] = fields.given(...kinds);
  const target = TARGETS[kind];
  if (target === undefined || other !== undefined)
    return fields.fail('webhook', `is missing: a rule has one of ${kinds.join(', ')}.`);
  const own = new Fields(fields.raw(kind), `${place.where}.${kind}`, target.fields);
  return target.read(own, filter, name, place);
}

function readKafka(fields: Fields, filter: string, name: string, place: Place): TargetConfiguration {
  return {
    kind: 'kafka',
    ...readKafkaConnection(fields, name, place),
    topic: kafkaTopicOf(fields),
    key: topicTemplateOf(fields, 'key', fields.text('key') ?? '{topic}', filter),
  };
}

/** The broker's own limit for `$delayed/SECONDS/TOPIC`. */
const DELAY_SECONDS_MAX = 4_294_967;

function readPublish(fields: Fields, filter: string): TargetConfiguration {
  const text = fields.requiredText('topic', 'where the message goes, as alarms/{2}.');
  const template = topicTemplateOf(fields, 'topic', text, filter);
  const invalid = validateTopicName(filled(template, () => 'x'));
  if (invalid !== undefined) fields.fail('topic', `is no topic of MQTT. ${invalid.reason}.`);
  if (text.startsWith('$')) fields.fail('topic', "begins with $: such topics are the broker's own.");
  const delaySeconds = countOf(fields, 'delaySeconds', 0, DELAY_SECONDS_MAX, 0);
  return {
    kind: 'publish',
    topic: delaySeconds === 0 ? template : { ...template, text: `$delayed/${delaySeconds}/${text}` },
    qos: fields.raw('qos') === undefined ? undefined : qosOf(fields, 1),
    retain: fields.flag('retain') ?? false,
  };
}
