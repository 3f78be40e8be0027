import { SUBPROTOCOL_ACCEPTED, SUBPROTOCOL_HANDLED } from '@apus/aws';
import type { Fields, Push, Reply } from '../../support/text-client.ts';
import { encodePackets } from './packets.ts';

/** Subprotocols that the transport offers with its CONNECT (docs/text-frames.md, section 10). */
export const OFFER = '(nudge,move,resume,close,alive)';

/** The subprotocols of a handshake that carries CONNECT (section 15). */
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
  /** Sends a PINGREQ of the transport. */
  live(): void;
  /** Sends the first frame of a connection that takes over the live session of the ticket. */
  move(ticket: string): Promise<Reply>;
  /** Sends the first frame of a connection that resumes the lost session of the ticket. */
  resume(ticket: string): Promise<Reply>;
  nextPush(): Promise<Push>;
  /** Closes the WebSocket. @param code @default 1000, as the transport does after DISCONNECT's reply */
  close(code?: number): void;
  /** Cuts the network. */
  vanish(): Promise<void>;
}

/** A deployment behind emulators, on a clock that stands still unless it is moved. */
export interface World {
  /** Opens a WebSocket without sending anything. */
  open(): Promise<BenchClient>;
  /** Opens a WebSocket whose handshake carries this CONNECT. Rejects where the gateway or the broker refuses it. */
  openWith(connect: Fields): Promise<BenchClient>;
  /** Resolves when nothing is in flight: no frame, no job, no `$disconnect`. */
  quiet(): Promise<void>;
  /** Lets time pass, and runs the timers that become due. */
  pass(milliseconds: number): Promise<void>;
  /** Waits for an event that needs time to pass. */
  whileTimePasses<T>(waiting: Promise<T>): Promise<T>;
  /** Puts a message of AWS IoT Core into its queue, or records of Kafka into an event. Not every world has it. */
  bring(from: 'iot-core' | 'kafka', what: object): Promise<void>;
  /** Makes environments cold until an invocation has warmed them. */
  coolDown(): void;
  /** Sets all counts to 0. */
  reset(): void;
  /** Logged warnings and errors, and errors that functions threw. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

/** A world that counts everything that is billed. */
export interface CountingWorld extends World {
  counted(): Counted;
  /** The read units of one pass of the sweep over each of the two tables, in one segment. */
  scanned(): Promise<{ readonly sessions: number; readonly messages: number }>;
}
