import { ReasonCode } from '@apus/mqtt';

/**
 * A port cannot do its work now, although the request is correct: the store is throttled, or has lost every race. This
 * passes, so the client is told to try again later, with the reason code that says why. Any other error of a port is a
 * defect and ends the connection.
 */
export abstract class Unavailable extends Error {
  /** 0x97 Quota exceeded, 0x95 Packet too large. */
  abstract readonly reasonCode: number;
}

/**
 * The connection of these packets has lost its session. The client will send again what the packets acknowledge, so no
 * answer may leave, and the connection has to end. 0x8E Session taken over.
 */
export class ConnectionLost extends Unavailable {
  override readonly name = 'ConnectionLost';
  readonly reasonCode = ReasonCode.SessionTakenOver;

  constructor() {
    super('the session has lost this connection');
  }
}
