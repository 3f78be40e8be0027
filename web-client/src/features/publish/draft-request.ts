import type { LoggedMessage, MessageProperties, PublishRequest } from '../../engine/types.ts';
import type { Draft, DraftProperties, PayloadFormat } from '../../state/draft.ts';
import { base64Of } from '../decode/bytes.ts';

/** The field that cannot be converted to bytes, and the reason. */
export interface DraftProblem {
  readonly field: 'payload' | 'topic';
  readonly key: 'hex' | 'base64' | 'topicMissing' | 'tooLarge' | 'noText';
  /** The largest packet that the server takes, if this one is larger. */
  readonly bytesMax?: number;
}

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Correlation data that is no text: `0x` and pairs of digits. */
const HEX_BYTES = /^0x(?:[0-9a-f]{2})+$/i;

/** The message of a draft, or the error in it. */
export function requestOf(draft: Draft, protocolVersion: number): PublishRequest | DraftProblem {
  const { topic, qos, retain, properties } = draft;
  if (topic === '' && properties.topicAlias === undefined) return { field: 'topic', key: 'topicMissing' };
  const payload = payloadBytes(draft.payload, draft.format);
  if (payload === undefined) {
    return { field: 'payload', key: draft.format === 'hex' ? 'hex' : 'base64' };
  }
  const sent = protocolVersion === 5 ? propertiesOf(properties) : undefined;
  return { topic, payload, qos, retain, properties: sent };
}

/**
 * The result of reading a text is cached from this length on. A shorter text is read anew each time, and so does not
 * replace a large one: a rendering that React interrupts may still have the text before a paste.
 */
const KEPT_CHARACTERS_MIN = 16_384;

/** The large text that was read last, and its bytes: the panel usually renders again with the same payload. */
let read: { readonly text: string; readonly format: PayloadFormat; readonly bytes: Uint8Array | undefined } =
  {
    text: '',
    format: 'text',
    bytes: undefined,
  };

/** The bytes of the text in the editor; undefined if it is invalid. */
export function payloadBytes(text: string, format: PayloadFormat): Uint8Array | undefined {
  if (text.length < KEPT_CHARACTERS_MIN) return bytesOf(text, format);
  if (read.text !== text || read.format !== format) read = { text, format, bytes: bytesOf(text, format) };
  return read.bytes;
}

function bytesOf(text: string, format: PayloadFormat): Uint8Array | undefined {
  if (format === 'hex') return hexBytes(text);
  if (format === 'base64') return base64Bytes(text);
  return encoder.encode(text);
}

/** The same bytes in another format of the editor, or the reason why that is impossible. */
export function converted(
  { payload, format }: Pick<Draft, 'payload' | 'format'>,
  wanted: PayloadFormat,
): Pick<Draft, 'payload' | 'format'> | DraftProblem['key'] {
  const bytes = payloadBytes(payload, format);
  if (bytes === undefined) return format === 'hex' ? 'hex' : 'base64';
  if (wanted === 'hex') return { payload: hexText(bytes, ' '), format: wanted };
  if (wanted === 'base64') return { payload: base64Of(bytes), format: wanted };
  const shown = textOf(bytes);
  return shown.format === 'hex' ? 'noText' : { payload: shown.payload, format: wanted };
}

/** The large text that was checked last: several parts of the panel check the same text, at every change. */
let asked: { readonly text: string; readonly problem: string | undefined } = { text: '', problem: undefined };

/** The error of the JSON; undefined if there is none, and for an empty text. */
export function jsonProblem(text: string): string | undefined {
  if (text.length < KEPT_CHARACTERS_MIN) return parseProblem(text);
  if (asked.text !== text) asked = { text, problem: parseProblem(text) };
  return asked.problem;
}

function parseProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function propertiesOf(properties: DraftProperties): MessageProperties {
  const { payloadFormatIndicator, contentType, responseTopic, correlationText, userProperties } = properties;
  return {
    payloadFormatIndicator: payloadFormatIndicator ? true : undefined,
    messageExpiryIntervalSeconds: properties.messageExpiryIntervalSeconds,
    topicAlias: properties.topicAlias,
    contentType: contentType === '' ? undefined : contentType,
    responseTopic: responseTopic === '' ? undefined : responseTopic,
    correlationData: correlationText === '' ? undefined : correlationBytes(correlationText),
    userProperties: userProperties.some(([name]) => name !== '')
      ? userProperties.filter(([name]) => name !== '')
      : undefined,
  };
}

/** Turns a message into a draft, to be changed and published again. */
export function draftOf(message: LoggedMessage): Draft {
  const { payload, topic, qos, retain, properties } = message;
  return {
    topic,
    ...textOf(payload),
    qos,
    retain,
    properties: {
      payloadFormatIndicator: properties.payloadFormatIndicator === true,
      messageExpiryIntervalSeconds: properties.messageExpiryIntervalSeconds,
      // An alias is only valid on the connection on which it came.
      topicAlias: undefined,
      contentType: properties.contentType ?? '',
      responseTopic: properties.responseTopic ?? '',
      correlationText:
        properties.correlationData === undefined ? '' : correlationTextOf(properties.correlationData),
      userProperties: properties.userProperties ?? [],
    },
  };
}

export function correlationBytes(text: string): Uint8Array {
  return HEX_BYTES.test(text) ? (hexBytes(text.slice(2)) ?? new Uint8Array()) : encoder.encode(text);
}

export function correlationTextOf(bytes: Uint8Array): string {
  const text = utf8(bytes);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters cannot be typed
  if (text !== undefined && !/[\u0000-\u001f]/.test(text) && !HEX_BYTES.test(text)) return text;
  return `0x${hexText(bytes, '')}`;
}

/** Bytes in the editor's form: as text if they are text. */
export function textOf(payload: Uint8Array): { readonly payload: string; readonly format: PayloadFormat } {
  const text = utf8(payload);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are bytes, not text
  if (text === undefined || /[\u0000-\u0008\u000e-\u001f]/.test(text)) {
    return { payload: hexText(payload, ' '), format: 'hex' };
  }
  return { payload: text, format: jsonProblem(text) === undefined ? 'json' : 'text' };
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function hexText(bytes: Uint8Array, between: string): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(between);
}

function hexBytes(text: string): Uint8Array | undefined {
  const digits = text.replaceAll(/[\s:,]+/g, '');
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function base64Bytes(text: string): Uint8Array | undefined {
  const standard = text.replaceAll(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  try {
    return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
