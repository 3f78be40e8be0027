import type { Attachment, ConnectionId, PageLimit } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Item } from '../table/values.ts';

/**
 * The way that a message takes to the session.
 *
 * - `direct`: publishers take a place in the window and post.
 * - `backlog`: publishers append to the log; only frames that want a reply dequeue from it. The client sends one such
 *   frame at a time, so it is the single reader.
 * - `closing`: a frame has found the log empty. A publisher that appends objects, and the mode becomes backlog again.
 */
export type Mode = 'direct' | 'backlog' | 'closing';

/** How far the exchange of an entry has come on the present connection. */
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

/** Decides what a session is sent. It is one item, and one write replaces it. */
export interface QueueRecord {
  /** The number of the last CONNECT that has written. A late CONNECT has a lower number. */
  readonly epoch: number;
  /** Undefined while the client is away, as far as the record knows. */
  readonly connectionId: ConnectionId | undefined;
  readonly receiveMaximum: number;
  readonly mode: Mode;
  /** The last reply said that more waits, so the client asks again. Only in backlog. */
  readonly isFetching: boolean;
  /** The packet whose acknowledgement proves that the last page has arrived. 0: none. Only in mode closing. */
  readonly awaits: PacketId;
  /** Until then a publisher that took a place may still post. In ms since the epoch. */
  readonly untilMs: number;
  /** The incarnation is over. */
  readonly hasEnded: boolean;
  /** The packet id that was assigned last. */
  readonly lastPacketId: PacketId;
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** Names of QoS 2 copies whose exchange is complete: see `completed.ts`. */
  readonly completed: readonly string[];
  /** The newest name that the record has forgotten. Empty: it has forgotten none. */
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
  /**
   * An earlier run of the fan-out has placed it: a deduplication record, or a forgotten name, says so. At QoS 2 only.
   */
  readonly wasPlaced: boolean;
}

export interface LogItem {
  readonly name: string;
  readonly qos: 1 | 2;
  readonly bytes: number;
  /** An earlier run of the fan-out has placed it, and the record has forgotten the name. At QoS 2 only. */
  readonly wasPlaced?: boolean;
  /** In ms since the epoch. */
  readonly expiresAtMs?: number | undefined;
}

/** The log as it was read from its start, after the record had been read. */
export interface LogPage {
  /** Oldest first. */
  readonly items: readonly LogItem[];
  /** The log ends with the last one. */
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

/** CONNECT of a session that continues, or begins. Conditional on the version that was read. */
export interface Connect {
  readonly type: 'connect';
  readonly epoch: number;
  readonly connectionId: ConnectionId;
  readonly receiveMaximum: number;
  readonly dequeue: Dequeue;
}

/** A publisher or worker has messages for the session. Conditional on the version that was read. */
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
  /** Names of the messages that it has appended. */
  readonly names: readonly string[];
}

/** A publisher has appended while the mode was closing. Conditional on the mode alone. */
export interface Objection {
  readonly type: 'object';
}

/** A frame of the client. Conditional on the version that was read. */
export interface Frame {
  readonly type: 'frame';
  readonly connectionId: ConnectionId;
  readonly acknowledgements: readonly Acknowledgement[];
  /** Undefined for a frame out of turn, which wants no reply and only acknowledges. */
  readonly dequeue: Dequeue | undefined;
}

/** The second read of the log has found a message. Conditional on the version that was read. */
export interface DequeueAgain {
  readonly type: 'dequeue-again';
  readonly connectionId: ConnectionId;
  readonly dequeue: Dequeue;
}

/** The connection is gone. Conditional on the connection alone. */
export interface Lost {
  readonly type: 'lost';
  readonly connectionId: ConnectionId;
}

/** The incarnation is over. Unconditional. */
export interface End {
  readonly type: 'end';
}

/** A message is too large for the client [MQTT-3.1.2-25]. Conditional on the version that was read. */
export interface GiveUp {
  readonly type: 'give-up';
  readonly packetId: PacketId;
}

export type RecordEvent = Connect | Offer | Appended | Objection | Frame | DequeueAgain | Lost | End | GiveUp;

/** The caller's next steps. */
export type Effect =
  /** Deletes the item of the log, before it writes the record. */
  | { readonly type: 'delete'; readonly name: string }
  /** Sends the message when the record has been written: in the reply to a frame, or in a publisher's post. */
  | { readonly type: 'publish'; readonly entry: Entry; readonly isDup: boolean }
  | { readonly type: 'pubrel'; readonly packetId: PacketId }
  /** Answers the frame. */
  | { readonly type: 'reply'; readonly isMoreWaiting: boolean }
  /**
   * Reads the log once more when the record has been written, and dequeues again if the log holds a message without an
   * entry.
   */
  | { readonly type: 'look-again' }
  /** When the other messages have been posted, appends these to the log and then looks at the record. */
  | { readonly type: 'append'; readonly names: readonly string[] }
  /** Reads the record: see `Appended`. */
  | { readonly type: 'look' }
  | { readonly type: 'object' }
  /** Tells the client to fetch. */
  | { readonly type: 'nudge'; readonly connectionId: ConnectionId }
  /** Closes the connection as lost: its client returns, and is sent the unacknowledged messages again. */
  | { readonly type: 'end-connection'; readonly connectionId: ConnectionId }
  /** Deletes the appended message. If this call deleted it, another member of the share group gets it. */
  | { readonly type: 'pass-on' }
  | { readonly type: 'refuse'; readonly reason: 'fence' | 'another-connection' | 'ended' };

/** The record to be written (the same object if nothing changes), and what the caller has to do. */
export interface Decision {
  readonly record: QueueRecord;
  readonly effects: readonly Effect[];
}

/** How many messages have left the log since the session began, and their bytes. */
export interface Removed {
  readonly messages: number;
  readonly bytes: number;
}

/** A record with the other fields of its item. */
export interface StoredRecord {
  readonly record: QueueRecord;
  /** How to send to the record's connection. Undefined: it has none. */
  readonly attachment: Attachment | undefined;
  /** By name, the messages that stand in the record and not in the log, as attributes of an item of the log. */
  readonly contents: ReadonlyMap<string, Item>;
  readonly removed: Removed;
  /** The record's version. Undefined: no item has been written. */
  readonly nonce: string | undefined;
}
