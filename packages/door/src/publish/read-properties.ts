import {
  BINARY_BYTES_MAX,
  type PublishProperties,
  type TopicLimits,
  type UserProperties,
  type Violation,
  validateTopicName,
} from '@apus/mqtt';
import { Fields, fromBase64, isObject, mqttTextProblem, shown } from './fields.ts';

const ENCODINGS = ['plain', 'base64'] as const;
const UINT32_MAX = 0xffff_ffff;
const LONE_SURROGATE = /\p{Surrogate}/u;
const KNOWN = [
  'payload_format_indicator',
  'message_expiry_interval',
  'response_topic',
  'correlation_data',
  'correlation_data_encoding',
  'user_properties',
  'content_type',
];

/**
 * Reads the properties of a message, in EMQX's words. Two more than EMQX has: a user property may have a list of
 * values, since MQTT lets a name come several times, and `correlation_data_encoding` says what is binary.
 */
export function readProperties(message: Fields, limits: TopicLimits): PublishProperties | Violation {
  const value = message.raw('properties');
  if (value === undefined) return {};
  if (!isObject(value)) {
    message.fail('properties', `is an object, not ${shown(value)}`);
    return {};
  }
  const fields = new Fields(value, 'properties.', KNOWN);
  const responseTopic = fields.text('response_topic');
  // [MQTT-3.3.2-14]
  const invalid = responseTopic === undefined ? undefined : validateTopicName(responseTopic, limits);
  if (invalid !== undefined) return invalid;
  const properties = defined({
    payloadFormatIndicator: fields.wholeNumber('payload_format_indicator', 1) as 0 | 1 | undefined,
    messageExpiryInterval: fields.wholeNumber('message_expiry_interval', UINT32_MAX),
    responseTopic,
    correlationData: readCorrelationData(fields),
    userProperties: readUserProperties(fields),
    contentType: fields.mqttText('content_type'),
  });
  message.problem ??= fields.problem;
  return properties;
}

function readCorrelationData(fields: Fields): Uint8Array | undefined {
  const encoding = fields.oneOf('correlation_data_encoding', ENCODINGS) ?? 'plain';
  const text = fields.text('correlation_data');
  if (text === undefined) return undefined;
  const bytes = encoding === 'plain' ? Buffer.from(text) : fromBase64(text);
  if (bytes === undefined) return fields.fail('correlation_data', 'is said to be base64 and is not');
  if (bytes.length <= BINARY_BYTES_MAX) return bytes;
  return fields.fail('correlation_data', `has at most ${BINARY_BYTES_MAX} bytes`);
}

/** `{"name": "value", "several": ["one", "two"]}`, in its order [MQTT-3.3.2-18]. */
function readUserProperties(fields: Fields): UserProperties | undefined {
  const value = fields.raw('user_properties');
  if (value === undefined) return undefined;
  if (!isObject(value)) return fields.fail('user_properties', `is an object, not ${shown(value)}`);
  const pairs: [string, string][] = [];
  for (const [name, one] of Object.entries(value)) {
    for (const each of Array.isArray(one) ? one : [one]) {
      const wrong = textProblem(name) ?? textProblem(each);
      if (wrong !== undefined) return fields.fail(`user_properties.${name}`, wrong);
      pairs.push([name, String(each)]);
    }
  }
  return pairs;
}

function textProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return `is a string or a list of strings, not ${shown(value)}`;
  if (LONE_SURROGATE.test(value)) return 'has half of a surrogate pair in it';
  return mqttTextProblem(value);
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
}
