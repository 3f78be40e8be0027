/**
 * A port cannot do its work now, though the request is correct: the store is throttled, or lost every race. The
 * condition passes by itself, so the client is told to try again later, with the reason code that says why. Any other
 * error of a port is a defect and ends the connection.
 */
export abstract class Unavailable extends Error {
  /** 0x97 Quota exceeded, 0x95 Packet too large. */
  abstract readonly reasonCode: number;
}
