import type { PacketId } from '@apus/mqtt';
import type { decide, forgetting } from '../../src/queue/decide.ts';
import type { QueueRecord } from '../../src/queue/types.ts';

/** The code under exploration: the record's own, or one with a protection taken away. */
export interface Core {
  readonly decide: typeof decide;
  readonly forgetting: typeof forgetting;
  readonly NEW_RECORD: QueueRecord;
}

/** The publications, and the number of faults. */
export interface Configuration {
  readonly receiveMaximum: number;
  /** Packets of a page. */
  readonly pageMessages: number;
  /** Of each publisher its frames, and of each frame the QoS of its messages: `'2|1'`, `'11'`. */
  readonly publishers: readonly [string, string];
  /** The QoS of the messages of a worker's job. */
  readonly worker: string;
  /** How often SQS gives the job out again while it is being handled. */
  readonly earlyRedeliveries: number;
  readonly crashes: number;
  /** How often the client leaves by itself. */
  readonly reconnects: number;
  readonly postsOfUnknownFate: number;
  readonly lostAnswers: number;
  readonly lostReplies: number;
  /** Frames out of turn that may be handled at a time. */
  readonly framesOutOfTurn: number;
  /** Items of the log that are read beside those which the record names. @default all */
  readonly logItemsRead?: number;
  /** The client holds pushes back while more waits. */
  readonly isHolding: boolean;
  /** How often the client asks to be moved to a second connection. */
  readonly moves: number;
  /** Connections until the sweep cuts one. */
  readonly connections: number;
  /** Names of completed exchanges that the record keeps when one more has come. */
  readonly namesKept: number;
  /** The copies are for a share group: deduplications beside the record say which were placed. */
  readonly isShared: boolean;
}

export const QUIET: Configuration = {
  receiveMaximum: 1,
  pageMessages: 2,
  publishers: ['1', ''],
  worker: '',
  earlyRedeliveries: 0,
  crashes: 0,
  reconnects: 0,
  postsOfUnknownFate: 0,
  lostAnswers: 0,
  lostReplies: 0,
  framesOutOfTurn: 1,
  isHolding: false,
  moves: 0,
  connections: 4,
  namesKept: 1,
  isShared: false,
};

/**
 * A protection of the callers that is taken away. Those of the record's own code are taken away in its text: see
 * `mutations.ts`.
 */
export type CallerMutation =
  | 'no-version'
  | 'no-deduplication'
  | 'forgotten-unwritten'
  | 'forgotten-unread'
  | 'delete-late'
  | 'note-on-any-connection'
  | 'look-before-appending'
  | 'append-before-post'
  | 'dequeue-out-of-turn'
  | 'post-again-when-unknown'
  | 'post-again-when-repeated'
  | 'move-rewinds'
  | 'move-without-following'
  | 'move-without-hold';

/** One message on its way: a QoS 1 PUBLISH that is sent again is another one. */
export interface Instance {
  readonly publisher: number;
  /** Its place among the publisher's messages. */
  readonly sequence: number;
  readonly qos: 1 | 2;
  /** Which of the messages that the publisher wants delivered. */
  readonly delivery: number;
  readonly frame: number;
  readonly attempt: number;
}

export interface Packet {
  readonly type: 'publish' | 'pubrel' | 'nudge';
  readonly packetId: PacketId;
  readonly message: number;
}

export interface Client {
  readonly connection: number;
  readonly status: 'away' | 'connecting' | 'connected';
  readonly isFrameOut: boolean;
  readonly isMoreWaiting: boolean;
  readonly isNudged: boolean;
  readonly held: readonly Packet[];
  /** Packet ids, as bits: to be answered by PUBACK, PUBREC, PUBCOMP. */
  readonly pubacks: number;
  readonly pubrecs: number;
  readonly pubcomps: number;
  /** Received on this connection, and not answered to the end. */
  readonly unacknowledged: number;
  /** QoS 2 ids that await a PUBREL. They outlive the connection. */
  readonly unreleased: number;
  /** The message that came last under each id. */
  readonly messages: readonly number[];
  /** The second connection, while it moves. 0: it does not. */
  readonly movesTo: number;
  readonly movesSent: number;
  readonly hasMoveReply: boolean;
  readonly hasOldClosed: boolean;
  /** It waits no more for the reply. */
  readonly isGivenUp: boolean;
}

export interface MoveHandler {
  readonly step: 'end' | 'cut' | 'session' | 'record' | 'reply';
  readonly from: number;
  readonly to: number;
}

/** The handler of CONNECT or of a frame that wants a reply. */
export interface FrameHandler {
  readonly step:
    | 'begin'
    | 'read'
    | 'delete'
    | 'write'
    | 'delete-late'
    | 'look'
    | 'read-again'
    | 'dequeue-again'
    | 'reply';
  readonly does: 'connect' | 'frame';
  readonly read: QueueRecord | undefined;
  /** Messages, as bits: the log as it was read; what is deleted from it. */
  readonly log: number;
  readonly deletes: number;
  readonly pubacks: number;
  readonly pubrecs: number;
  readonly pubcomps: number;
  readonly page: readonly Packet[];
  readonly firstOfReply: PacketId;
  readonly isMoreWaiting: boolean;
}

/** The handler of a frame out of turn. */
export interface AckHandler {
  readonly step: 'begin' | 'note' | 'read' | 'delete' | 'write' | 'post';
  readonly connection: number;
  readonly read: QueueRecord | undefined;
  readonly deletes: number;
  readonly pubacks: number;
  readonly pubcomps: number;
  readonly page: readonly Packet[];
}

/** The handler of a publisher's frame, or of a worker's job. */
export interface PublishHandler {
  readonly step:
    | 'read'
    | 'take'
    | 'look-for-own'
    | 'append'
    | 'look'
    | 'object'
    | 'nudge'
    | 'post'
    | 'end'
    | 'lose'
    | 'finish';
  readonly frame: number;
  readonly read: QueueRecord | undefined;
  readonly log: number;
  /** Messages, as bits: all of the frame; to be placed; to be appended. */
  readonly batch: number;
  readonly todo: number;
  readonly rest: number;
  readonly post: readonly Packet[];
  /** Messages, as bits, that it has appended. */
  readonly appended: number;
  /** To which it posts; which it ends. */
  readonly postTo: number;
  readonly connection: number;
  readonly racesLost: number;
}

export interface Publisher {
  readonly frame: number;
  readonly attempt: number;
  readonly status: 'idle' | 'sent' | 'done';
}

export interface Reply {
  readonly connection: number;
  readonly isMoreWaiting: boolean;
  readonly page: readonly Packet[];
  readonly isConnack: boolean;
}

export interface Budgets {
  readonly crashes: number;
  readonly reconnects: number;
  readonly postsOfUnknownFate: number;
  readonly lostAnswers: number;
  readonly lostReplies: number;
  readonly earlyRedeliveries: number;
  readonly moves: number;
}

export type Socket = 'none' | 'open' | 'half-open' | 'closed';

export interface State {
  readonly record: QueueRecord;
  /**
   * Messages, as bits: in the log; whose QoS 2 deduplication record exists, or which the record has forgotten; whose
   * receipt says that they were handed on.
   */
  readonly log: number;
  readonly deduplication: number;
  readonly handedOn: number;
  readonly client: Client;
  readonly frames: readonly (FrameHandler | undefined)[];
  readonly acks: readonly (AckHandler | undefined)[];
  readonly publishHandlers: readonly (PublishHandler | undefined)[];
  readonly publishers: readonly Publisher[];
  readonly isJobDone: boolean;
  readonly reply: Reply | undefined;
  /** Posts on their way to the client's connection, in their order. */
  readonly posts: readonly Packet[];
  /** The same to the second connection, which the client holds. */
  readonly nextPosts: readonly Packet[];
  readonly moves: readonly (MoveHandler | undefined)[];
  /** By connection that has ended: the connection to which its session has moved. 0: none. */
  readonly movedTo: readonly number[];
  readonly sockets: readonly Socket[];
  /** Connections, as bits, whose end is written. */
  readonly tombstones: number;
  /** The connection that the session item names. */
  readonly owner: number;
  readonly budgets: Budgets;
  readonly sweeps: number;
  /** Deliveries, as bits: promised to the publisher; received. */
  readonly acknowledged: number;
  readonly delivered: number;
  readonly violation: string | undefined;
}

export type StepKind = 'ordinary' | 'fault' | 'sweep';

export interface Successor {
  readonly state: State;
  readonly kind: StepKind;
  readonly label: () => string;
}

/** The connection numbers run from 1 to this, less one. */
export const CONNECTIONS_END = 7;

/** Entries, posts and packet ids beyond which a state is not followed: none of the configurations comes there. */
export const ENTRIES_END = 6;
export const POSTS_END = 8;
export const PACKET_IDS_END = 31;

export const BEYOND_THE_MODEL = 'beyond the model';
