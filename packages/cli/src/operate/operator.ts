import type { BanEntry } from '@apus/identity';

/** A request for a ban: the fields of `POST /api/v5/banned`. */
export type BanRequest = Pick<BanEntry, 'as' | 'who'> & Partial<Omit<BanEntry, 'at'>>;

/** A client, connected or waiting for. */
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

/** A message of a stream, as `GET /api/v5/streams/NAME/messages` has it. */
export interface StreamMessageLine {
  readonly position: string;
  readonly published_at: string;
  readonly key: string | null;
  readonly topic: string;
  /** Base64. */
  readonly payload: string;
}

/** Which messages of a stream, as the parameters of the API are called. */
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
  /** Clients that were ended; undefined where the broker does not say. */
  readonly expelled?: number;
  /** False: some may be left, until the next sweep finds them. */
  readonly isComplete: boolean;
}

/** A broker, as its operator speaks to it: a node over HTTP, or a deployment through its function. */
export interface Operator {
  /** All of them, or those of one name; as many as the caller takes. */
  clients(username: string | undefined): AsyncIterable<ClientLine>;
  /** False when no such client is connected. */
  kick(clientId: string): Promise<boolean>;
  ban(request: BanRequest): Promise<Banned>;
  /** False when there was no such ban. */
  unban(as: string, who: string): Promise<boolean>;
  bans(): AsyncIterable<BanEntry>;
  streams(): Promise<readonly StreamLine[]>;
  members(room: string): AsyncIterable<MemberLine>;
  streamMessages(name: string, question: StreamQuestion): Promise<StreamPage>;
}

/** The broker refuses the operation. The message is a sentence. */
export class OperateError extends Error {
  override readonly name = 'OperateError';
}
