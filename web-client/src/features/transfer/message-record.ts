import { validateTopicName } from '@apus/mqtt/topic';
import { flag, integer, type Members, membersOf, oneOf, qos, text } from '../../engine/read-members.ts';
import { userProperties } from '../../engine/read-profile.ts';
import type { LoggedMessage, MessageProperties, Qos } from '../../engine/types.ts';
import { base64Of, bytesOfBase64, utf8Of } from '../decode/bytes.ts';
import { FileProblem, type Place } from './file-problem.ts';

export interface FiledMessage {
  /** Milliseconds since 1970, with a fraction; undefined where the file does not say. */
  readonly atMs: number | undefined;
  readonly direction: 'received' | 'published';
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly properties: MessageProperties;
}

/** A message in JSON. `payloadBase64` is the payload; `payloadText` is for people who read the file. */
export interface MessageRecord {
  readonly time: string;
  readonly timeMs: number;
  readonly direction: 'received' | 'published';
  readonly topic: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly payloadBase64: string;
  readonly payloadText?: string | undefined;
  readonly properties?: PropertiesRecord | undefined;
}

interface PropertiesRecord {
  readonly payloadFormatIndicator?: boolean | undefined;
  readonly messageExpiryIntervalSeconds?: number | undefined;
  readonly responseTopic?: string | undefined;
  readonly correlationBase64?: string | undefined;
  readonly userProperties?: MessageProperties['userProperties'];
  readonly contentType?: string | undefined;
}

export function recordOf(message: LoggedMessage): MessageRecord {
  const { atMs, direction, topic, qos, retain, dup, payload } = message;
  const properties = propertiesRecordOf(message.properties);
  return {
    time: new Date(atMs).toISOString(),
    timeMs: atMs,
    direction,
    topic,
    qos,
    retain,
    dup,
    payloadBase64: base64Of(payload),
    payloadText: utf8Of(payload),
    properties: Object.values(properties).some((value) => value !== undefined) ? properties : undefined,
  };
}

/** Without fields of one connection: the topic alias, and the identifiers of its subscriptions. */
function propertiesRecordOf(properties: MessageProperties): PropertiesRecord {
  const { correlationData } = properties;
  return {
    payloadFormatIndicator: properties.payloadFormatIndicator,
    messageExpiryIntervalSeconds: properties.messageExpiryIntervalSeconds,
    responseTopic: properties.responseTopic,
    correlationBase64: correlationData && base64Of(correlationData),
    userProperties: properties.userProperties,
    contentType: properties.contentType,
  };
}

const encoder = new TextEncoder();

/**
 * A message of a file.
 *
 * @param place of the message, for errors
 * @throws {FileProblem} if it is invalid
 */
export function readRecord(value: unknown, place: Place): FiledMessage {
  const read = membersOf(value);
  if (read === undefined) throw new FileProblem('entry', {}, place);
  const topic = text(read.topic) ?? '';
  const invalid = validateTopicName(topic);
  if (invalid !== undefined) throw new FileProblem('topic', { detail: invalid.reason }, place);
  if (read.qos !== undefined && qos(read.qos) === undefined) throw new FileProblem('qos', {}, place);
  return {
    atMs: timeOf(read, place),
    direction: oneOf(read.direction, ['received', 'published'] as const) ?? 'received',
    topic,
    payload: payloadOf(read, place),
    qos: qos(read.qos) ?? 0,
    retain: flag(read.retain) ?? false,
    properties: readProperties(membersOf(read.properties) ?? {}, place),
  };
}

function timeOf({ timeMs, time }: Members, place: Place): number | undefined {
  if (timeMs === undefined && time === undefined) return undefined;
  const atMs = typeof timeMs === 'number' ? timeMs : Date.parse(text(time) ?? '');
  // The range of a `Date`.
  if (!(Math.abs(atMs) <= 8.64e15)) throw new FileProblem('time', {}, place);
  return atMs;
}

/**
 * Text is used if there is no base64: a person or another program wrote the file; programs call it `payload` and may
 * put JSON there.
 */
function payloadOf({ payloadBase64, payloadText, payload }: Members, place: Place): Uint8Array {
  if (payloadBase64 === undefined) {
    if (typeof payloadText === 'string') return encoder.encode(payloadText);
    if (payload !== undefined)
      return encoder.encode(typeof payload === 'string' ? payload : JSON.stringify(payload));
  }
  const bytes = typeof payloadBase64 === 'string' ? exactBytes(payloadBase64) : undefined;
  if (bytes === undefined) throw new FileProblem('payload', {}, place);
  return bytes;
}

function exactBytes(base64: string): Uint8Array | undefined {
  return base64 === '' ? new Uint8Array() : bytesOfBase64(base64);
}

function readProperties(read: Members, place: Place): MessageProperties {
  const correlation = read.correlationBase64;
  const correlationData = typeof correlation === 'string' ? exactBytes(correlation) : undefined;
  if (correlation !== undefined && correlationData === undefined)
    throw new FileProblem('correlation', {}, place);
  const pairs = userProperties(read.userProperties);
  return {
    payloadFormatIndicator: flag(read.payloadFormatIndicator),
    messageExpiryIntervalSeconds: integer(read.messageExpiryIntervalSeconds, 0, 0xffff_ffff),
    responseTopic: text(read.responseTopic),
    correlationData,
    userProperties: pairs.length === 0 ? undefined : pairs,
    contentType: text(read.contentType),
  };
}
