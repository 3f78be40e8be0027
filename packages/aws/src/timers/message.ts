import type { ConflatedGroup, ConnectionId, Message, Publisher, Timer } from '@apus/broker';
import { decodeMessage, encodeMessage } from '@apus/store-dynamodb';
import { decodeQueued, encodeQueued, type Fields, NEWER, type Newer } from '../events/queued-text.ts';

/** Version of the layout of a timer. */
const VERSION = 1;

/** The broker's timers, and those for a connection: see `Liveness`, `ConnectDeadline` and `UnclosedConnections`. */
export type TimerKind = Timer['kind'] | 'liveness' | 'connect' | 'close';

const KINDS: readonly unknown[] = [
  'will',
  'session-expiry',
  'presence',
  'liveness',
  'connect',
  'close',
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
  return encodeQueued(VERSION, { kind, tenant, message: encoded, dueAtMs, publisher });
}

function encodeConflation(message: ConflationMessage): string {
  const { kind, tenant, topicFilter, intervalMs, tickId, dueAtMs } = message;
  return encodeQueued(VERSION, { kind, tenant, topicFilter, intervalMs, tickId, dueAtMs });
}

function encodeTick({ kind, tenant, room, dueAtMs }: TickMessage): string {
  return encodeQueued(VERSION, { kind, tenant, room, dueAtMs });
}

export function encodeTimer({ kind, session, connectionId, dueAtMs }: TimerMessage): string {
  const { tenant, clientId, incarnation } = session;
  return encodeQueued(VERSION, { kind, tenant, clientId, incarnation, connectionId, dueAtMs });
}

/** Undefined: the text is no timer. A retry would not change that. A kind that this code does not know is newer. */
export function decodeTimer(body: string): AnyTimer | Newer | undefined {
  const fields = decodeQueued(VERSION, body);
  if (fields === NEWER || fields === undefined) return fields;
  const { kind, tenant, clientId, incarnation, connectionId, dueAtMs } = fields;
  if (kind === 'tick') return tickOf(fields);
  if (kind === 'conflation') return conflationOf(fields);
  if (kind === 'delayed') return delayedOf(fields);
  if (!isKind(kind)) return typeof kind === 'string' ? NEWER : undefined;
  if (typeof tenant !== 'string' || typeof clientId !== 'string' || typeof incarnation !== 'string')
    return undefined;
  if (typeof connectionId !== 'string' || typeof dueAtMs !== 'number') return undefined;
  return { kind, session: { tenant, clientId, incarnation }, connectionId, dueAtMs };
}

function tickOf({ tenant, room, dueAtMs }: Fields): TickMessage | undefined {
  if (typeof tenant !== 'string' || typeof room !== 'string' || typeof dueAtMs !== 'number') return undefined;
  return { kind: 'tick', tenant, room, dueAtMs };
}

function delayedOf(fields: Fields): DelayedTimer | undefined {
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

function conflationOf(fields: Fields): ConflationMessage | undefined {
  const { tenant, topicFilter, intervalMs, tickId, dueAtMs } = fields;
  if (typeof tenant !== 'string' || typeof topicFilter !== 'string' || typeof tickId !== 'string')
    return undefined;
  if (typeof intervalMs !== 'number' || typeof dueAtMs !== 'number') return undefined;
  return { kind: 'conflation', tenant, topicFilter, intervalMs, tickId, dueAtMs };
}

function isKind(kind: unknown): kind is TimerKind {
  return KINDS.includes(kind);
}
