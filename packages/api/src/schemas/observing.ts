import { DROP_NAMES } from '@apus/broker';
import {
  closedObject,
  count,
  figures,
  flag,
  list,
  nullable,
  object,
  oneOf,
  ref,
  text,
  time,
  type ValueOf,
} from '../schema.ts';

/** Seconds of a trace at most: while it runs, the broker writes a line for each message. */
export const TRACE_SECONDS_MAX = 60;

export const TRACE_TYPES = ['clientid', 'topic', 'ip_address'] as const;

/** Why a message was dropped, as figures of a sample. */
export const DROPPED_FIGURES = Object.values(DROP_NAMES).map(
  (name) => `dropped.${name}` as const,
) as readonly `dropped.${(typeof DROP_NAMES)[keyof typeof DROP_NAMES]}`[];

const EVENT_KINDS = ['connected', 'disconnected', 'refused', 'kicked', 'denied', 'fault', 'dropped'] as const;

const droppedBy = Object.fromEntries(DROPPED_FIGURES.map((name) => [name, count()])) as Record<
  (typeof DROPPED_FIGURES)[number],
  ReturnType<typeof count>
>;

const trace = {
  name: text('Up to 32 letters, digits, "_" and "-".', { pattern: '^[A-Za-z0-9_-]{1,32}$' }),
  type: oneOf(TRACE_TYPES),
  value: text('The client identifier, the topic filter or the IP address.', {
    minLength: 1,
    maxLength: 1_024,
  }),
} as const;
const seconds = count('How long it runs.', { minimum: 1, maximum: TRACE_SECONDS_MAX });

const status = {
  ...trace,
  seconds,
  start_at: time(),
  status: oneOf(['running', 'stopped']),
} as const;

const log = {
  lines: list(ref<TraceLine>('TraceLine')),
  left_out: count('Lines that the trace has not kept.'),
} as const;

export const observingSchemas = {
  SlowSubscription: object({
    node: text(),
    clientid: text(),
    topic: text('Topic of the oldest message that the client has not acknowledged.'),
    timespan: count('Milliseconds since that message was published.'),
    last_update_time: count('Milliseconds since 1970: when this was looked up.'),
    connected: flag(),
    mqueue_len: count('Messages that wait.'),
    inflight_cnt: count('Messages that it has not acknowledged.'),
  }),
  DroppingClient: object({
    node: text(),
    clientid: text(),
    dropped: count('Messages that did not reach it since its session began.'),
    ...droppedBy,
    last_dropped_at: nullable(time('To half a minute; null: in the last half minute.')),
  }),
  MonitorSample: object(
    {
      time_stamp: count('End of the sample, in milliseconds since 1970.'),
      ...figures({
        live_connections: 'Connected clients.',
        connections: 'Sessions.',
        subscriptions: 'Subscriptions.',
        retained: 'Retained messages.',
        received: 'Messages from clients.',
        sent: 'Messages to clients.',
        received_bytes: 'Bytes from clients.',
        sent_bytes: 'Bytes to clients.',
        connects: 'CONNECT packets.',
        refused: 'CONNECT packets that were refused.',
        dropped: 'Messages that did not reach a session that they were for.',
      }),
      ...droppedBy,
    },
    'Figures of a time. The first four say how many there were, the others what was added.',
  ),
  ClientEvent: object(
    {
      'node?': text(),
      event: oneOf(
        EVENT_KINDS,
        '`denied`: the rules did not allow a packet. `fault`: the client broke a rule of MQTT or a limit. `dropped`: messages did not reach it.',
      ),
      clientid: nullable(text('Null: a handshake without CONNECT.')),
      username: nullable(text()),
      at: time('The first.'),
      last_at: time('The newest: what is repeated within ten minutes is one event.'),
      count: count('How often; of `dropped`, how many messages.'),
      reason: nullable(text()),
      reason_code: nullable(count('Of MQTT; of a handshake, a status of HTTP.')),
      ip_address: nullable(text()),
    },
    'Something that happened to a client.',
  ),
  Alarm: object(
    {
      node: text(),
      name: text(),
      message: text('A sentence.'),
      count: count('How often it was noticed.'),
      activate_at: time(),
      deactivate_at: nullable(time('Null: it lasts.')),
      duration: count('Milliseconds.'),
    },
    'Something that the operator should look at.',
  ),
  NewTrace: closedObject({ ...trace, 'seconds?': seconds }),
  Trace: object(status),
  TraceLine: object({
    at: time(),
    level: text(),
    event: text(),
    fields: { type: 'object' } as const satisfies { readonly type: string },
    'node?': text(),
  }),
  TraceLog: object(
    {
      ...status,
      ...log,
      position: text('`position` of the next request.'),
    },
    'Lines of a trace behind a position.',
  ),
};

type Schemas = typeof observingSchemas;
export type SlowSubscription = ValueOf<Schemas['SlowSubscription']>;
export type DroppingClient = ValueOf<Schemas['DroppingClient']>;
export type MonitorSample = ValueOf<Schemas['MonitorSample']>;
export type ClientEvent = ValueOf<Schemas['ClientEvent']>;
export type ClientEventKind = (typeof EVENT_KINDS)[number];
export type Alarm = ValueOf<Schemas['Alarm']>;
export type TraceStatus = ValueOf<Schemas['Trace']>;
export interface TraceQuestion {
  readonly name: string;
  readonly type: (typeof TRACE_TYPES)[number];
  readonly value: string;
  readonly seconds: number;
}
export interface TraceLine {
  readonly at: string;
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly node?: string;
}
/** Lines of one process; its position is the number of lines that it has had. */
export interface TraceLog extends TraceStatus {
  readonly lines: readonly TraceLine[];
  readonly position: number;
  readonly left_out: number;
}
