import type { MessageProperties, Qos } from './connection-profile.ts';

/** The outcome of a message that was published here. */
export interface PublishFate {
  readonly state: /** It has left; at QoS 1 and 2 no answer has come yet. */
    | 'sent'
    /** Acknowledged with PUBACK or PUBCOMP. MQTT 3.1.1 has no other answer, even if the server refuses. */
    | 'acknowledged'
    | 'refused'
    /** The connection was lost before the answer; it is sent again on the next one. */
    | 'unknown'
    /** The connection ended before the answer, and it is not sent again. */
    | 'lost';
  /** MQTT 5's reason code, where there was an answer. */
  readonly code: number | undefined;
  /** The server's Reason String, or ''. */
  readonly detail: string;
}

/**
 * A received or published message. It stays readable as long as it is referenced, even after its log has dropped it.
 * `payload`, `text` and `packet` are computed at each access: store the result if you need it twice.
 */
export interface LoggedMessage {
  /** Ascends by one within a connection's log, from 0, and is never used again. */
  readonly sequence: number;
  readonly connectionId: string;
  readonly direction: 'received' | 'published';
  /** Milliseconds since 1970, with a fraction. */
  readonly atMs: number;
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly payloadLength: number;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly packetId: number | undefined;
  readonly properties: MessageProperties;
  /** The `id`s of the matching subscriptions; none for a published message. */
  readonly subscriptionIds: readonly string[];
  /** Undefined for a message that was received. It changes with the server's answer. */
  readonly fate: PublishFate | undefined;
  /** The whole PUBLISH as it was on the wire. */
  readonly packet: Uint8Array;
  readonly packetLength: number;
  /** Time since the timestamp in the message, if it has one. */
  readonly latencyMs: number | undefined;
  /** How many sequence numbers of its topic were skipped before it; 0 if none were, or it has none. */
  readonly missingBefore: number;
  /** The payload as UTF-8, with U+FFFD for invalid bytes; at most `charactersMax` characters. */
  text(charactersMax?: number): string;
}

/** A gap in a log, at its place. */
export type LogMark =
  /** The broker dropped messages for this client. `reasons` have the names of its notices, such as `queue_full`. */
  | {
      readonly kind: 'dropped';
      readonly atMs: number;
      readonly count: number;
      readonly reasons: Readonly<Record<string, number>>;
    }
  /** There was no connection from `fromMs` to `atMs`. */
  | {
      readonly kind: 'away';
      readonly atMs: number;
      readonly fromMs: number;
      readonly sessionPresent: boolean;
      /** Whether subscriptions read streams, which have their own mark. */
      readonly readsStreams?: boolean | undefined;
    }
  /** A subscription that reads a stream continued, with or without a gap. */
  | {
      readonly kind: 'stream';
      readonly atMs: number;
      readonly filter: string;
      /** All messages published meanwhile follow. */
      readonly isRecovered: boolean;
      /** How many messages those are. */
      readonly count: number;
    }
  /** The page was too busy to take these messages. */
  | { readonly kind: 'skipped'; readonly atMs: number; readonly count: number }
  /** Messages before it were kept by an earlier visit, whose last message is of `fromMs`. */
  | { readonly kind: 'reloaded'; readonly atMs: number; readonly fromMs: number };

/**
 * Why messages are not stored across a reload: no room, the browser stores nothing for this page, or a newer page
 * changed the shape.
 */
export type KeepTrouble = 'full' | 'unavailable' | 'outdated';

/** A mark, with the sequence of the message that it stands before. */
export interface PlacedMark {
  readonly sequence: number;
  readonly mark: LogMark;
}

/** The bounded log of one connection: when it is full, the oldest entries are dropped. */
export interface MessageLog {
  readonly limits: { readonly messagesMax: number; readonly bytesMax: number };
  readonly size: number;
  readonly bytes: number;
  /** The oldest sequence that is still held. */
  readonly firstSequence: number;
  /** One more than the newest sequence. */
  readonly endSequence: number;
  /** How many were dropped since the log was cleared. */
  readonly evicted: number;
  /** Gaps among the messages that are held, oldest first. Replaced, never changed. */
  readonly marks: readonly PlacedMark[];
  at(sequence: number): LoggedMessage | undefined;
  clear(): void;
  /**
   * Called with each batch at once, in order, even while a view is paused. Must be fast. Returns a function that stops
   * it.
   */
  onAppend(listener: AppendListener): () => void;
  /** Called after an append or a clear, at most once per frame. Returns a function that stops it. */
  onFrame(listener: () => void): () => void;
  /** Called at once when the log is cleared. */
  onClear(listener: () => void): () => void;
}

/** `marks` are those that came with the messages. */
export type AppendListener = (messages: readonly LoggedMessage[], marks: readonly PlacedMark[]) => void;

/** The number of a frame; `kept`: the transport answered it itself or omitted it; `unsent`: it was never sent. */
export type FrameOfPacket = number | 'kept' | 'unsent';

/** One packet of the timeline, undecoded: `inspectPacket(bytes, version)` explains it field by field. */
export interface LoggedPacket {
  readonly sequence: number;
  /** Gateway door: its text frame, once it has one. Set later than the packet is logged. */
  readonly frame: FrameOfPacket | undefined;
  readonly direction: 'in' | 'out';
  readonly atMs: number;
  /** The type, 1 to 15, of the fixed header. */
  readonly type: number;
  /** The first byte of the fixed header. */
  readonly firstByte: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

export interface PacketLog {
  readonly limits: { readonly countMax: number; readonly bytesMax: number };
  readonly size: number;
  readonly firstSequence: number;
  readonly endSequence: number;
  /** Goes up with each change. */
  readonly changes: number;
  at(sequence: number): LoggedPacket | undefined;
  clear(): void;
  onFrame(listener: () => void): () => void;
}

/** The kind of a text frame of the gateway door (docs/text-frames.md, section 2). */
export type FrameKind =
  /** No frame, and not billed: CONNECT came with the handshake, which may have answered it (section 15). */
  | 'handshake'
  /** From the client: packets that want a reply. */
  | 'request'
  /** From the client: packets that want none. */
  | 'one-way'
  /** From the client: no packets, and a reply is wanted. */
  | 'fetch'
  /** From the client: a PINGREQ of the transport, and a sign of life, which no function answers. */
  | 'heartbeat'
  | 'alive'
  /** From the client: the session goes on over this connection, before the gateway cuts the other, or after a loss. */
  | 'move'
  | 'resume'
  /** The answers to them. */
  | 'moved'
  | 'resumed'
  | 'not-moved'
  | 'reply'
  /** A frame that belongs behind a reply. */
  | 'part'
  | 'push'
  /** Messages wait, and the client has to fetch them. */
  | 'nudge'
  /** The gateway itself reports that the handler failed. */
  | 'error'
  /** An empty frame. */
  | 'nothing'
  | 'unreadable';

/** One text frame of the gateway door. */
export interface LoggedFrame {
  /** Ascends within a connection, from 1; packets refer to it. */
  readonly number: number;
  readonly direction: 'in' | 'out';
  readonly kind: FrameKind;
  readonly atMs: number;
  /** Characters of the text; each is a byte. */
  readonly characters: number;
  /** The messages that API Gateway bills for it. */
  readonly billed: number;
  /** Its bill if each packet had its own frame. */
  readonly billedAlone: number;
  /** Replies: how many packets of the request were handled; undefined: all of them. */
  readonly taken: number | undefined;
  /** Replies: how many parts belong to it. */
  readonly parts: number;
  /** Replies: more messages wait. */
  readonly more: boolean;
  readonly packets: readonly Uint8Array[];
}

export interface FrameLog {
  readonly limits: { readonly countMax: number; readonly bytesMax: number };
  readonly size: number;
  /** Goes up with each change. */
  readonly changes: number;
  /** Newest first. */
  newest(): readonly LoggedFrame[];
  withNumber(number: number): LoggedFrame | undefined;
  clear(): void;
  onFrame(listener: () => void): () => void;
}
