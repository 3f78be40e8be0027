import type { ConflatedGroup, ConnectionId, Message, Publisher, Timer } from '@apus/broker';
import { decodeMessage, encodeMessage } from '@apus/store-dynamodb';

/**
 * Version of the layout of a timer. Another layout has to read timers of this one, which wait in the queue during a
 * deployment.
 */
const VERSION = 1;

/** SQS takes only characters that XML allows. Of those that MQTT and JSON allow, it refuses these. */
const NOT_XML = /[\ufffe\uffff]/g;

/** The broker's timers, and those for a connection: see `Liveness` and `ConnectDeadline`. */
export type TimerKind = Timer['kind'] | 'liveness' | 'connect';

const KINDS: readonly unknown[] = [
  'will',
  'session-expiry',
  'presence',
  'liveness',
  'connect',
] satisfies TimerKind[];

/** The session of a timer: what is needed to find it. */
export interface TimerSession {
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
}

/** A timer as it waits in the queue until it is due. */
export interface TimerMessage {
  readonly kind: TimerKind;
  readonly session: TimerSession;
  readonly connectionId: ConnectionId;
  /** In ms since the epoch, by the clock of the process that set it. */
  readonly dueAtMs: number;
}

/** The tick of a room, as it waits in the queue. */
export interface TickMessage {
  readonly kind: 'tick';
  readonly tenant: string;
  readonly room: string;
  /** In ms since the epoch, by the clock of the process that set it. */
  readonly dueAtMs: number;
}

/** A message of `$delayed/SECONDS/TOPIC`, as it waits in the queue. */
export interface DelayedTimer {
  readonly kind: 'delayed';
  readonly tenant: string;
  readonly message: Message;
  /** In ms since the epoch, by the clock of the process that took it. */
  readonly dueAtMs: number;
  /** The publisher that is charged for the deliveries. */
  readonly publisher: Publisher | undefined;
}

/** The tick of a conflated group. */
export interface ConflationMessage extends ConflatedGroup {
  readonly kind: 'conflation';
  /** The id of the tick; the head of the filter names the one that is armed. */
  readonly tickId: string;
  /** In ms since the epoch, by the clock of the process that set it. */
  readonly dueAtMs: number;
}

/** A message in the timers' queue. */
export type AnyTimer = TimerMessage | TickMessage | DelayedTimer | ConflationMessage;

export function encodeAny(timer: AnyTimer): string {
  if (timer.kind === 'tick') return encodeTick(timer);
  if (timer.kind === 'conflation') return encodeConflation(timer);
  return timer.kind === 'delayed' ? encodeDelayed(timer) : encodeTimer(timer);
}

function encodeDelayed({ kind, tenant, message, dueAtMs, publisher }: DelayedTimer): string {
  const encoded = Buffer.from(encodeMessage(message)).toString('base64');
  return asXml(JSON.stringify({ v: VERSION, kind, tenant, message: encoded, dueAtMs, publisher }));
}

function encodeConflation(message: Omit<ConflationMessage, 'kind'>): string {
  const { tenant, topicFilter, intervalMs, tickId, dueAtMs } = message;
  const fields = { v: VERSION, kind: 'conflation', tenant, topicFilter, intervalMs, tickId, dueAtMs };
  return asXml(JSON.stringify(fields));
}

function encodeTick({ tenant, room, dueAtMs }: Omit<TickMessage, 'kind'>): string {
  return asXml(JSON.stringify({ v: VERSION, kind: 'tick', tenant, room, dueAtMs }));
}

export function encodeTimer({ kind, session, connectionId, dueAtMs }: TimerMessage): string {
  const { tenant, clientId, incarnation } = session;
  return asXml(JSON.stringify({ v: VERSION, kind, tenant, clientId, incarnation, connectionId, dueAtMs }));
}

function asXml(json: string): string {
  return json.replaceAll(NOT_XML, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
}

/** Undefined: the text is no timer of a known version. A retry would not change that. */
export function decodeTimer(body: string): AnyTimer | undefined {
  const fields = parse(body);
  if (fields?.v !== VERSION) return undefined;
  if (fields.kind === 'tick') return tickOf(fields);
  if (fields.kind === 'conflation') return conflationOf(fields);
  if (fields.kind === 'delayed') return delayedOf(fields);
  const { kind, tenant, clientId, incarnation, connectionId, dueAtMs } = fields;
  if (!isKind(kind)) return undefined;
  if (typeof tenant !== 'string' || typeof clientId !== 'string' || typeof incarnation !== 'string')
    return undefined;
  if (typeof connectionId !== 'string' || typeof dueAtMs !== 'number') return undefined;
  return { kind, session: { tenant, clientId, incarnation }, connectionId, dueAtMs };
}

function tickOf({ tenant, room, dueAtMs }: Readonly<Record<string, unknown>>): TickMessage | undefined {
  if (typeof tenant !== 'string' || typeof room !== 'string' || typeof dueAtMs !== 'number') return undefined;
  return { kind: 'tick', tenant, room, dueAtMs };
}

function delayedOf(fields: Readonly<Record<string, unknown>>): DelayedTimer | undefined {
  const { tenant, message: encoded, dueAtMs, publisher } = fields;
  if (typeof tenant !== 'string' || typeof encoded !== 'string' || typeof dueAtMs !== 'number')
    return undefined;
  try {
    const message = decodeMessage(Buffer.from(encoded, 'base64'));
    if (message === undefined) return undefined;
    return { kind: 'delayed', tenant, message, dueAtMs, publisher: publisher as Publisher | undefined };
  } catch {
    return undefined;
  }
}

function conflationOf(fields: Readonly<Record<string, unknown>>): ConflationMessage | undefined {
  const { tenant, topicFilter, intervalMs, tickId, dueAtMs } = fields;
  if (typeof tenant !== 'string' || typeof topicFilter !== 'string' || typeof tickId !== 'string')
    return undefined;
  if (typeof intervalMs !== 'number' || typeof dueAtMs !== 'number') return undefined;
  return { kind: 'conflation', tenant, topicFilter, intervalMs, tickId, dueAtMs };
}

function isKind(kind: unknown): kind is TimerKind {
  return KINDS.includes(kind);
}

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
