import type { ConnectionStatus } from '../connections/get-connection.ts';
import type { Frame } from '../frames/frame.ts';

/** The outcome of a post to a connection. */
export type PostOutcome =
  | 'sent'
  /** 410: the connection is gone, or not established yet. */
  | 'gone'
  /** 429 at the last try: the account is throttled, or the client does not read. */
  | 'throttled'
  /** 413. */
  | 'too-large'
  /** There was no connection to the gateway: nothing was sent. */
  | 'unsent'
  /** Anything else: it is unknown whether it arrived. */
  | 'failed';

/** The @connections API of one endpoint. */
export interface Poster {
  /**
   * Sends a text frame. `mayRepeat`: if it is unknown whether the frame arrived, it is sent again, as MQTT allows at
   * QoS 1 and 2; of a `Frame` only the packets that must arrive. Never rejects.
   */
  post(connectionId: string, frame: Frame | string, mayRepeat: boolean): Promise<PostOutcome>;
  /** Closes a connection with 1000. False: the gateway does not answer, and the connection may be open. Never rejects. */
  delete(connectionId: string): Promise<boolean>;
  /** Asks whether the connection exists. Gives up at `untilMs`. Never rejects. */
  get(connectionId: string, untilMs?: number): Promise<ConnectionStatus>;
  /** Packets for the connection were gathered, and will be posted before their event ends. */
  willPost?(connectionId: string): void;
  /** As `Connections.isPageUnderWay`. */
  isPageUnderWay?(connectionId: string): boolean;
}

/** Single attempts, for a caller that schedules its own retries. */
export interface PostAttempts {
  /** Sends a frame, once. Never rejects. */
  attempt(connectionId: string, frame: Frame): Promise<PostOutcome>;
}
