import { SUBPROTOCOL_ACCEPTED, SUBPROTOCOL_HANDLED } from '@apus/cloud';
import type { Fields, Push, Reply } from '../../support/text-client.ts';
import { encodePackets } from './packets.ts';

/** Subprotocols that the transport offers with its CONNECT (docs/text-frames.md, section 10). */
export const OFFER = '(nudge,move,resume,close,alive)';

/** The subprotocols of a handshake that brings CONNECT (section 15). */
export function protocolsWith(connect: Fields): string[] {
  const names = OFFER.slice(1, -1).replaceAll(',', '+');
  const bytes = encodePackets([connect]).toString('base64url');
  return [
    `mqtt-connect.${'A'.repeat(22)}.${names}.${bytes}`,
    SUBPROTOCOL_ACCEPTED,
    SUBPROTOCOL_HANDLED,
    'mqtt-text-v1.1',
  ];
}

/** Counts in billed units. */
export interface Counted {
  /** Frames from clients, by 32 KB begun. */
  readonly messagesIn: number;
  /** Replies and posts, by 32 KB begun. */
  readonly messagesOut: number;
  /** The posts among them: calls to @connections. */
  readonly posts: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly sqsFifoRequests: number;
  readonly sqsStandardRequests: number;
  readonly invocations: number;
  readonly bytesOut: number;
}

/** A client that does nothing by itself: it sends the frames that the transport would send. */
export interface BenchClient {
  /** One frame that wants a reply. */
  exchange(...packets: Fields[]): Promise<Reply>;
  /** One frame that wants none. */
  tell(...packets: Fields[]): void;
  /** A sign of life. */
  live(): void;
  /** The first frame of a connection to which the session of that ticket's moves. */
  move(ticket: string): Promise<Reply>;
  /** The first frame of a connection that resumes the session of that ticket's, which is lost. */
  resume(ticket: string): Promise<Reply>;
  nextPush(): Promise<Push>;
  /** Closes the WebSocket. @param code @default 1000, as the transport does after DISCONNECT's reply */
  close(code?: number): void;
  /** The network breaks. */
  vanish(): Promise<void>;
}

/** A deployment behind emulators, on a clock that stands still unless it is moved. */
export interface World {
  /** Opens a WebSocket; nothing has been said on it. */
  open(): Promise<BenchClient>;
  /** Opens a WebSocket whose handshake brings this CONNECT; rejects where that is not accepted. */
  openWith(connect: Fields): Promise<BenchClient>;
  /** Resolves when nothing is under way: no frame, no job, no `$disconnect`. */
  quiet(): Promise<void>;
  /** Lets time pass, and what is due happen. */
  pass(milliseconds: number): Promise<void>;
  /** Waits for something for which time has to pass. */
  whileTimePasses<T>(waiting: Promise<T>): Promise<T>;
  /** A message of AWS IoT Core comes into its queue, or records of Kafka in an event. Not in every world. */
  bring(from: 'iot-core' | 'kafka', what: object): Promise<void>;
  /** From here on environments are cold, until something has warmed them. */
  coolDown(): void;
  /** Counts from nothing again. */
  reset(): void;
  /** Logged warnings and errors, and errors that functions threw. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

/** A world that sees all that is billed. */
export interface CountingWorld extends World {
  counted(): Counted;
  /** The read units of one pass of the sweep over each of the two tables, in one segment. */
  scanned(): Promise<{ readonly sessions: number; readonly messages: number }>;
}
