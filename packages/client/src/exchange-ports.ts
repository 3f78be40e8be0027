import type { TransportError } from './errors.ts';
import type { Settings, TransportEvent } from './options.ts';
import type { Memory } from './outbound.ts';
import type { SplitPacket } from './packet-splitter.ts';
import type { Statistics } from './statistics.ts';

/** The surroundings of an exchange: its settings, and the transport that it calls. */
export interface ExchangePorts {
  readonly settings: Settings;
  readonly memory: Memory;
  readonly statistics: Statistics;
  readonly sendText: (text: string) => void;
  /** The library has written CONNECT. The argument is undefined if CONNECT has to leave in a frame. */
  readonly connecting: (connect: Uint8Array | undefined) => void;
  /** The secret of the ticket, if CONNECT came with the handshake. */
  readonly secret: () => string;
  /** Hands bytes to the library. */
  readonly deliver: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly connected: () => void;
  readonly drained: () => void;
  /** A packet cannot be sent. */
  readonly refused: (packet: SplitPacket) => void;
  /** Everything is sent and answered: the socket may be closed. */
  readonly finished: (code: number) => void;
  /** The server has refused what the transport has added to CONNECT: here it is as the library has written it. */
  readonly connectAgain: (packet: Uint8Array) => void;
  /** CONNACK refuses for a reason that may pass. */
  readonly comeBack: () => void;
  readonly fail: (error: TransportError) => void;
  /** The server allows the session to move to another connection. */
  readonly mayMove: (move: string) => void;
  /** The library has written DISCONNECT. */
  readonly leaving: () => void;
  /** A new token has to be shown on another connection, if the session can move. */
  readonly move: () => void;
  readonly report: (event: TransportEvent) => void;
}
