/**
 * A port cannot do its work now, though nothing is wrong with what it was asked: the store is throttled, or lost every
 * race. It ends by itself, so the client is told to try again later, with the reason code that says why. Anything
 * else that a port throws is a defect and ends the connection.
 */
export abstract class Unavailable extends Error {
  /** 0x97 Quota exceeded, 0x95 Packet too large. */
  abstract readonly reasonCode: number;
}
