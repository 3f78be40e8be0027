import {
  base64,
  closedObject,
  count,
  flag,
  list,
  nullable,
  object,
  oneOf,
  QOS,
  ref,
  text,
  time,
  type ValueOf,
} from '../schema.ts';

const ENCODINGS = ['plain', 'base64'];

const retained = {
  msgid: text(),
  topic: text(),
  qos: QOS,
  payload_bytes: count(),
  expires_at: nullable(time()),
};

export const messageSchemas = {
  NewMessage: closedObject({
    topic: text(),
    payload: text(),
    'payload_encoding?': nullable(
      oneOf(ENCODINGS, 'Plain unless it is named: the payload is the text in UTF-8.'),
    ),
    'qos?': nullable(QOS),
    'retain?': nullable(flag()),
    'properties?': {
      ...closedObject({
        'payload_format_indicator?': nullable(oneOf([0, 1])),
        'message_expiry_interval?': nullable(count('Seconds.', { maximum: 0xffff_ffff })),
        'response_topic?': nullable(text()),
        'correlation_data?': nullable(text()),
        'correlation_data_encoding?': nullable(oneOf(ENCODINGS)),
        'user_properties?': {
          type: ['object', 'null'],
          additionalProperties: { oneOf: [text(), list(text())] },
        },
        'content_type?': nullable(text()),
      }),
      type: ['object', 'null'],
    },
    'clientid?': { description: 'Of EMQX’s older versions: it is not looked at.' },
  }),
  Event: object(
    {
      topic: text(),
      payload: text(),
      'payload_encoding?': oneOf(['base64'], 'The payload is not text in UTF-8.'),
      retain: flag('It was retained when the stream began.'),
      properties: object({
        'content_type?': text(),
        'user_properties?': {
          type: 'object',
          additionalProperties: { oneOf: [text(), list(text())] },
        },
      }),
    },
    'A message, as NewMessage has it.',
  ),
  EventGap: object({ topic: text('The filter.'), message: text('For people.') }),
  RetainedMessage: object(retained),
  RetainedMessageWithPayload: object({ ...retained, payload: base64() }),
  Stream: object({
    name: text(),
    topic_filter: text(),
    keep_seconds: count(),
    messages_max: count('Messages of each topic.'),
    bytes_max: count('Bytes of each topic.'),
    topics_max: count(),
    key: nullable(text('Name of the user property that is the key of a message.')),
    snapshot: flag('Of each key the newest message is kept.'),
    topics: count('Topics that have messages.'),
    messages: count(),
    bytes: count(),
  }),
  StreamMessage: object({
    position: text('EPOCH-NUMBER: a reader goes on behind it.'),
    ts: count('Milliseconds since 1970.'),
    published_at: time(),
    key: nullable(text()),
    topic: text(),
    qos: QOS,
    payload: base64(),
    content_type: nullable(text()),
  }),
  StreamPage: object({
    data: list(ref('StreamMessage')),
    meta: object({ next: nullable(text('`since` of the next page; null on the last.')) }),
  }),
  Member: object({
    member: text(),
    payload: base64('Its data.'),
    joined_at: time(),
    clientids: list(text(), 'The clients that make it present.'),
  }),
};

type Schemas = typeof messageSchemas;
export type RetainedLine = ValueOf<Schemas['RetainedMessage']>;
export type RetainedDetails = ValueOf<Schemas['RetainedMessageWithPayload']>;
export type StreamLine = ValueOf<Schemas['Stream']>;
export type StreamMessageLine = ValueOf<Schemas['StreamMessage']>;
export type MemberLine = ValueOf<Schemas['Member']>;
