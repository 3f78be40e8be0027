import type { ConnectionStatus } from '../connections/get-connection.ts';
import type { Frame } from '../frames/frame.ts';

/** The outcome of a post to a connection. */
export type PostOutcome =
  | 'sent'
  /** 410: the connection is gone, or not yet established. */
  | 'gone'
  /** 429 to the last: the account is throttled, or the client does not read. */
  | 'throttled'
  /** 413. */
  | 'too-large'
  /** It never left: there was no connection to the gateway. */
  | 'unsent'
  /** Anything else: whether it arrived is unknown. */
  | 'failed';

/** The @connections API of one endpoint. */
export interface Poster {
  /**
   * Sends a text frame. `mayRepeat`: when it is unknown whether the frame arrived, it may be sent again, as MQTT allows
   * at QoS 1 and 2 and not at QoS 0; of a `Frame` only the packets that must arrive. Never rejects.
   */
  post(connectionId: string, frame: Frame | string, mayRepeat: boolean): Promise<PostOutcome>;
  /** Closes a connection with 1000. Does nothing when it is gone. Never rejects. */
  delete(connectionId: string): Promise<void>;
  /** Asks whether the connection is there, and does not ask again from `untilMs` on, by the clock. Never rejects. */
  get(connectionId: string, untilMs?: number): Promise<ConnectionStatus>;
  /** Packets for the connection have been gathered: they are posted before their event ends. */
  willPost?(connectionId: string): void;
  /** As `Connections.isPageUnderWay`. */
  isPageUnderWay?(connectionId: string): boolean;
}

/** Single attempts, for a caller that schedules retries itself. */
export interface PostAttempts {
  /** Sends a frame, once. Never rejects. */
  attempt(connectionId: string, frame: Frame): Promise<PostOutcome>;
}
