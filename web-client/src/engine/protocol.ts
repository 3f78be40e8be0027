import type {
  ConnectionProfile,
  ConnectionStatus,
  FrameKind,
  KeepTrouble,
  LogMark,
  MessageProperties,
  Outcome,
  PublishFate,
  PublishRequest,
  Secrets,
  Subscription,
} from './types.ts';

/** A command of the page to the worker. `id` is the connection's, `call` numbers commands with an answer. */
export type Command =
  | {
      readonly type: 'open';
      readonly id: string;
      readonly profile: ConnectionProfile;
      readonly secrets: Secrets;
      /** The largest packet that the server is known to take, where CONNACK does not say. */
      readonly packetBytesMax?: number | undefined;
    }
  /** DISCONNECT with this reason code, or 0x04 where the will is wanted. */
  | { readonly type: 'close'; readonly id: string; readonly withWill: boolean }
  /** The connection is cut without DISCONNECT, as when a cable is pulled. */
  | { readonly type: 'cut'; readonly id: string }
  /** The connection has another token; it goes on. */
  | { readonly type: 'renew'; readonly id: string; readonly token: string }
  /** The next attempt begins now. */
  | { readonly type: 'retry'; readonly id: string }
  | { readonly type: 'subscriptions'; readonly id: string; readonly subscriptions: readonly Subscription[] }
  | { readonly type: 'publish'; readonly id: string; readonly call: number; readonly request: PublishRequest }
  /** Whether messages stay across a reload. Answered when the page has the stored ones. */
  | { readonly type: 'keep'; readonly id: string; readonly call: number; readonly isKept: boolean }
  /** Removes the messages that would stay. */
  | { readonly type: 'forget'; readonly id: string }
  /** The page has taken the batch: the next may come. */
  | { readonly type: 'taken'; readonly id: string };

/** A report of the worker to the page. */
export type Report =
  | { readonly type: 'status'; readonly id: string; readonly status: ConnectionStatus }
  | { readonly type: 'batch'; readonly id: string; readonly batch: Batch }
  /** Messages that stayed across a reload. */
  | { readonly type: 'kept'; readonly id: string; readonly batch: Batch }
  | { readonly type: 'keep-trouble'; readonly kind: KeepTrouble }
  | { readonly type: 'keeping'; readonly call: number }
  | { readonly type: 'outcome'; readonly call: number; readonly outcome: Outcome };

/** The fate of a published message. */
export interface PublishOutcome extends PublishFate {
  /** Undefined: all that wait for an answer. */
  readonly packetId: number | undefined;
}

/**
 * Packets and messages of a moment, in columns: bytes are transferred and not copied, and objects for messages are only
 * created on the page. `bytes` holds the packets one after the other.
 */
export interface Batch {
  readonly bytes: ArrayBuffer;
  /** `PACKET_COLUMNS` numbers for each packet of the timeline. */
  readonly packets: Float64Array<ArrayBuffer>;
  /** `MESSAGE_COLUMNS` numbers for each message. */
  readonly messages: Float64Array<ArrayBuffer>;
  /** Each topic of the batch once; messages refer to it by its index. */
  readonly topics: readonly string[];
  /** One for each message; undefined if it has none. */
  readonly properties: readonly (MessageProperties | undefined)[];
  /** One for each message. */
  readonly subscriptionIds: readonly (readonly string[])[];
  /** Gateway door: the text frames. There are few compared with messages, so each is an object. */
  readonly frames: readonly FrameRow[];
  /** Pairs of a packet's id and its frame's number, or a code of `NoFrame`. */
  readonly links: readonly number[];
  /** Messages that are missing before that row, or after the last one. */
  readonly marks: readonly { readonly row: number; readonly mark: LogMark }[];
  /** Answers of the server before the message of that row was sent, or after the last one. */
  readonly outcomes: readonly { readonly row: number; readonly outcome: PublishOutcome }[];
}

/** Why a packet of the timeline is in no frame: the transport kept it, or it was never sent. */
export const NoFrame = { Kept: -1, Unsent: -2 } as const;

/** A text frame of the gateway door; `bytes` of the batch hold its packets. */
export interface FrameRow {
  readonly number: number;
  readonly atMs: number;
  readonly isOut: boolean;
  readonly kind: FrameKind;
  readonly characters: number;
  readonly billed: number;
  readonly billedAlone: number;
  readonly taken: number | undefined;
  readonly parts: number;
  readonly more: boolean;
  readonly offset: number;
  readonly length: number;
}

export const PACKET_COLUMNS = 5;
export const PacketColumn = { AtMs: 0, IsOut: 1, Offset: 2, Length: 3, Id: 4 } as const;

export const MESSAGE_COLUMNS = 9;
export const MessageColumn = {
  AtMs: 0,
  /** Bit 0: published here; bits 1 and 2: QoS; bit 3: retain; bit 4: dup. */
  Flags: 1,
  /** 0 at QoS 0. */
  PacketId: 2,
  Topic: 3,
  Offset: 4,
  Length: 5,
  PayloadOffset: 6,
  /** NaN where the message carries no timestamp. */
  LatencyMs: 7,
  MissingBefore: 8,
} as const;
