import type { ProtocolVersion } from './packets.ts';

/**
 * Something a peer sent that MQTT does not allow: a value, not an exception.
 *
 * `reasonCode` is MQTT 5.0's (0x81 Malformed Packet, 0x82 Protocol Error, 0x95 Packet too large, …);
 * `reason` says in a sentence what was expected and what came, fit for a log line and a Reason String.
 */
export class Violation {
  readonly reasonCode: number;
  readonly reason: string;
  /**
   * The version of the CONNACK that can refuse a CONNECT: the client's version, or the nearest one that we speak.
   * Undefined: a CONNECT is answered by closing the connection.
   */
  readonly answerAs: ProtocolVersion | undefined;

  constructor(reasonCode: number, reason: string, answerAs?: ProtocolVersion) {
    this.reasonCode = reasonCode;
    this.reason = reason;
    this.answerAs = answerAs;
  }
}
