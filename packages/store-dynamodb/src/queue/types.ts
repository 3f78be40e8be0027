import type { ConnectionId, PageLimit } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';

/**
 * Which way a message takes to the session.
 *
 * - `direct`: publishers take a place in the window and post.
 * - `backlog`: publishers append to the log; only frames that want a reply dequeue from it. The client sends one such
 *   frame at a time, so it is the single reader.
 * - `closing`: the log is believed to be empty. A publisher that appends must object.
 */
export type Mode = 'direct' | 'backlog' | 'closing';

/** How far the exchange of an entry has come on the connection of now. */
export type Phase = 'unsent' | 'sent' | 'pubrel-due' | 'pubrel-sent';

/** Where the message of an entry is stored. `none`: PUBREC has come for a message that was not in the log. */
export type Body = 'inline' | 'reference' | 'log' | 'none';

/** A message of QoS 1 or 2 that has a packet id. */
export interface Entry {
  readonly packetId: PacketId;
  /** Message id and copy: the name of the message's item in the log, where it has one. */
  readonly name: string;
  readonly qos: 1 | 2;
  /** `push`: a publisher posts it. `page`: it leaves with the reply to a frame of the client. */
  readonly kind: 'push' | 'page';
  readonly phase: Phase;
  /** It takes a place in the window. A PUBREL that is sent again takes none [MQTT-3.3.4-10]. */
  readonly isCounted: boolean;
  readonly body: Body;
  /** Topic, payload and properties. */
  readonly bytes: number;
}

/** Decides on all that a session is sent: one item, which one write moves. */
export interface QueueRecord {
  /** The number of the CONNECT that wrote last: a CONNECT that is late has a lower one. */
  readonly epoch: number;
  /** Undefined while the client is away, as far as the record knows. */
  readonly connectionId: ConnectionId | undefined;
  readonly receiveMaximum: number;
  readonly mode: Mode;
  /** The last reply said that more waits, so the client asks again. Only in backlog. */
  readonly isFetching: boolean;
  /** The packet whose acknowledgement proves that the last page has arrived. 0: none. Only in closing. */
  readonly awaits: PacketId;
  /** Until then a publisher that took a place may still post. In ms since the epoch. */
  readonly untilMs: number;
  /** The incarnation is over. */
  readonly hasEnded: boolean;
  /** The packet id that was given last. */
  readonly lastPacketId: PacketId;
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** Names of copies at QoS 2 whose exchange is complete: see `completed.ts`. */
  readonly completed: readonly string[];
  /** Of the names up to this one some may have been forgotten. Empty: of none. */
  readonly forgottenTo: string;
}

/** A message that is on its way to the session. */
export interface Copy {
  readonly name: string;
  readonly qos: 1 | 2;
  readonly body: 'inline' | 'reference';
  readonly bytes: number;
  /** An earlier fan-out of the message has appended it, and it is still in the log. */
  readonly isInLog: boolean;
  /** An earlier fan-out of the message has placed it, and the record does not say so. At QoS 2 only. */
  readonly isRemembered: boolean;
}

export interface LogItem {
  readonly name: string;
  readonly qos: 1 | 2;
  readonly bytes: number;
  /** An earlier fan-out of the message has placed it, and the record has forgotten it. At QoS 2 only. */
  readonly isRemembered?: boolean;
  /** In ms since the epoch. */
  readonly expiresAtMs?: number | undefined;
}

/** The log as it was read from its start, after the record had been read. */
export interface LogPage {
  /** In their order. */
  readonly items: readonly LogItem[];
  /** Nothing stands behind the last one. */
  readonly isComplete: boolean;
}

export interface Acknowledgement {
  readonly packet: 'puback' | 'pubrec' | 'pubcomp';
  readonly packetId: PacketId;
}

/** The page that a frame with a reply may dequeue: its log, its size and its place in the reply. */
export interface Dequeue {
  readonly log: LogPage;
  /** No message where `messages` is 0; otherwise one of any size has room. */
  readonly limit: PageLimit;
  readonly nowMs: number;
  /** The first PUBLISH that the frame has dequeued before, for the same reply. 0: none. */
  readonly firstOfReply: PacketId;
}

/** CONNECT of a session that continues, or begins. Written where the record is as it was read. */
export interface Connect {
  readonly type: 'connect';
  readonly epoch: number;
  readonly connectionId: ConnectionId;
  readonly receiveMaximum: number;
  readonly dequeue: Dequeue;
}

/** A publisher or worker has messages for the session. Written where the record is as it was read. */
export interface Offer {
  readonly type: 'offer';
  readonly copies: readonly Copy[];
  /** Names of the messages in the log. It has to be read, after the record, only when the mode is closing. */
  readonly log: readonly string[];
  /** The latest moment at which the publisher may still post, in ms since the epoch. */
  readonly untilMs: number;
}

/** A publisher has appended, and reads the record to see whether the client will look at the log. Writes nothing. */
export interface Appended {
  readonly type: 'appended';
  /** What it has appended. */
  readonly names: readonly string[];
}

/** A publisher that has appended objects to the belief that the log is empty. Written blindly, under its conditions. */
export interface Objection {
  readonly type: 'object';
}

/** A frame of the client. Written where the record is as it was read. */
export interface Frame {
  readonly type: 'frame';
  readonly connectionId: ConnectionId;
  readonly acknowledgements: readonly Acknowledgement[];
  /** Undefined for a frame out of turn, which wants no reply and only acknowledges. */
  readonly dequeue: Dequeue | undefined;
}

/** The second look has found something in the log. Written where the record is as it was read. */
export interface DequeueAgain {
  readonly type: 'dequeue-again';
  readonly connectionId: ConnectionId;
  readonly dequeue: Dequeue;
}

/** The connection is gone. Written blindly, where it is the record's. */
export interface Lost {
  readonly type: 'lost';
  readonly connectionId: ConnectionId;
}

/** The incarnation is over. Written blindly. */
export interface End {
  readonly type: 'end';
}

/** A message is too large for the client [MQTT-3.1.2-25]. Written where the record is as it was read. */
export interface GiveUp {
  readonly type: 'give-up';
  readonly packetId: PacketId;
}

export type RecordEvent = Connect | Offer | Appended | Objection | Frame | DequeueAgain | Lost | End | GiveUp;

/** The caller's next steps. */
export type Effect =
  /** Deletes the item of the log, before it writes the record. */
  | { readonly type: 'delete'; readonly name: string }
  /** Sends the message when the record is written: with the reply of a frame, or in the post of a publisher. */
  | { readonly type: 'publish'; readonly entry: Entry; readonly isDup: boolean }
  | { readonly type: 'pubrel'; readonly packetId: PacketId }
  /** Answers the frame. */
  | { readonly type: 'reply'; readonly isMoreWaiting: boolean }
  /**
   * Reads the log once more when the record is written, and dequeues again if it holds a message that no entry names.
   */
  | { readonly type: 'look-again' }
  /** Appends to the log when the messages with places have been posted; then looks at the record. */
  | { readonly type: 'append'; readonly names: readonly string[] }
  /** Reads the record: see `Appended`. */
  | { readonly type: 'look' }
  | { readonly type: 'object' }
  /** Tells the client to fetch. */
  | { readonly type: 'nudge'; readonly connectionId: ConnectionId }
  /** Ends the connection as lost: its client returns, and is sent the unacknowledged messages again. */
  | { readonly type: 'end-connection'; readonly connectionId: ConnectionId }
  /** Deletes the appended message, and if the delete found it, gives it to another member of the share group. */
  | { readonly type: 'pass-on' }
  | { readonly type: 'refuse'; readonly reason: 'fence' | 'another-connection' | 'ended' };

/** The record as it is to be written, the same object where nothing changes, and the caller's actions. */
export interface Decision {
  readonly record: QueueRecord;
  readonly effects: readonly Effect[];
}
