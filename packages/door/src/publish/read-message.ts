import type { PublishRequest } from '@apus/broker';
import {
  isUtf8,
  type PublishProperties,
  publishLength,
  type QoS,
  ReasonCode,
  type TopicLimits,
  Violation,
  validateTopicName,
} from '@apus/mqtt';
import { Fields, fromBase64, isObject, shown } from './fields.ts';
import { readProperties } from './read-properties.ts';

/** A message of a request, before it is known whose it is. */
export type MessageDraft = Omit<PublishRequest, 'tenant' | 'publisher'>;

export interface MessageLimits extends TopicLimits {
  /** Bytes of the PUBLISH that the message becomes. */
  readonly publishBytesMax: number;
}

const ENCODINGS = ['plain', 'base64'] as const;
/** `clientid` is of EMQX's older versions: it is taken and not looked at. */
const KNOWN = ['topic', 'payload', 'payload_encoding', 'qos', 'retain', 'properties', 'clientid'];

/**
 * Reads one message of a request, in EMQX's words:
 *
 *     {"topic": "a/b", "payload": "…", "payload_encoding": "plain", "qos": 0, "retain": false, "properties": {…}}
 *
 * Only topic and payload have to be there.
 */
export function readMessage(value: unknown, limits: MessageLimits): MessageDraft | Violation {
  if (!isObject(value))
    return malformed(`A message is an object with a topic and a payload, not ${shown(value)}.`);
  const fields = new Fields(value, '', KNOWN);
  const topic = fields.text('topic') ?? fields.fail('topic', 'is missing');
  const payload = readPayload(fields);
  const qos = (fields.wholeNumber('qos', 2) ?? 0) as QoS;
  const retain = fields.flag('retain') ?? false;
  const properties = readProperties(fields, limits);
  if (properties instanceof Violation) return properties;
  if (fields.problem !== undefined || topic === undefined || payload === undefined) {
    return malformed(fields.problem ?? 'The message is not complete.');
  }
  const draft = { topic, payload, qos, retain, properties };
  return validateTopicName(topic, limits) ?? misfit(draft, limits) ?? draft;
}

function readPayload(fields: Fields): Uint8Array | undefined {
  const encoding = fields.oneOf('payload_encoding', ENCODINGS) ?? 'plain';
  const text = fields.text('payload');
  if (text === undefined) return fields.fail('payload', 'is missing');
  if (encoding === 'plain') return Buffer.from(text);
  return (
    fromBase64(text) ?? fields.fail('payload', 'is said to be base64 (RFC 4648, with padding) and is not')
  );
}

/** Errors that show only when the parts are put together. */
function misfit(draft: MessageDraft, { publishBytesMax }: MessageLimits): Violation | undefined {
  const bytes = lengthOf(draft);
  if (bytes > publishBytesMax) {
    const reason = `The message takes ${bytes} bytes as a PUBLISH; at most ${publishBytesMax} can be delivered.`;
    return new Violation(ReasonCode.PacketTooLarge, reason);
  }
  if (draft.properties.payloadFormatIndicator === 1 && !isUtf8(draft.payload)) {
    return new Violation(ReasonCode.PayloadFormatInvalid, 'The payload was declared UTF-8 and is not.');
  }
  return undefined;
}

function lengthOf(draft: MessageDraft): number {
  const properties: PublishProperties = draft.properties;
  return publishLength({ type: 'publish', dup: false, packetId: 1, ...draft, properties }, 5);
}

/** EMQX uses this code for every error for which MQTT has none. */
function malformed(reason: string): Violation {
  return new Violation(ReasonCode.ImplementationSpecificError, reason);
}
