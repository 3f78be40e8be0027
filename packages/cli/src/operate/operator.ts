import type { BanEntry } from '@apus/identity';

/** A request for a ban: the fields of `POST /api/v5/banned`. */
export type BanRequest = Pick<BanEntry, 'as' | 'who'> & Partial<Omit<BanEntry, 'at'>>;

/** A client: connected, or with a session only. */
export interface ClientLine {
  readonly clientId: string;
  readonly username: string | null;
  /** Undefined where the broker does not say. */
  readonly token?: string | null;
  readonly isConnected: boolean;
  readonly connectedAt: string | null;
}

/** A stream, as `GET /api/v5/streams` lists it. */
export interface StreamLine {
  readonly name: string;
  readonly topic_filter: string;
  readonly keep_seconds: number;
  readonly messages_max: number;
  readonly topics: number;
  readonly messages: number;
  readonly bytes: number;
}

/** A member of a room, as `GET /api/v5/presence/ROOM` lists it. */
export interface MemberLine {
  readonly member: string;
  /** Base64. */
  readonly payload: string;
  readonly joined_at: string;
  readonly clientids: readonly string[];
}

/** A message of a stream, as `GET /api/v5/streams/NAME/messages` returns it. */
export interface StreamMessageLine {
  readonly position: string;
  readonly published_at: string;
  readonly key: string | null;
  readonly topic: string;
  /** Base64. */
  readonly payload: string;
}

/** The selection of messages of a stream; the fields are named like the parameters of the API. */
export interface StreamQuestion {
  readonly topic?: string | undefined;
  readonly since?: string | undefined;
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
}

export interface StreamPage {
  readonly messages: readonly StreamMessageLine[];
  /** `since` of the next page; null at the end. */
  readonly next: string | null;
}

/** The result of a ban. */
export interface Banned {
  readonly ban: BanEntry;
  /** The number of clients whose connections were closed; undefined if the broker does not say. */
  readonly expelled?: number;
  /** False: some may be left until the next sweep finds them. */
  readonly isComplete: boolean;
}

/** A broker as its operator sees it: a node over HTTP, or a deployment through its function. */
export interface Operator {
  /** All clients, or those of one name; the caller stops when it has enough. */
  clients(username: string | undefined): AsyncIterable<ClientLine>;
  /** False if no such client is connected. */
  kick(clientId: string): Promise<boolean>;
  ban(request: BanRequest): Promise<Banned>;
  /** False if there was no such ban. */
  unban(as: string, who: string): Promise<boolean>;
  bans(): AsyncIterable<BanEntry>;
  streams(): Promise<readonly StreamLine[]>;
  members(room: string): AsyncIterable<MemberLine>;
  streamMessages(name: string, question: StreamQuestion): Promise<StreamPage>;
}

/** The broker refuses the operation; the message is a sentence. */
export class OperateError extends Error {
  override readonly name = 'OperateError';
}
