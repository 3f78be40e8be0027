import { ReasonCode } from '@apus/mqtt';

/**
 * A port cannot do its work now, though the request is correct: the store is throttled, or lost every race. The
 * condition passes by itself, so the client is told to try again later, with the reason code that says why. Any other
 * error of a port is a defect and ends the connection.
 */
export abstract class Unavailable extends Error {
  /** 0x97 Quota exceeded, 0x95 Packet too large. */
  abstract readonly reasonCode: number;
}

/**
 * The session has lost the connection whose packets these are, and sends again what they acknowledge: what answers them may not
 * leave. The connection has to end. 0x8E Session taken over.
 */
export class ConnectionLost extends Unavailable {
  override readonly name = 'ConnectionLost';
  readonly reasonCode = ReasonCode.SessionTakenOver;

  constructor() {
    super('the session has lost this connection');
  }
}
