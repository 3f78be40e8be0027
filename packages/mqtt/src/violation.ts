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
   * Set for a CONNECT that can be refused with a CONNACK: the version to say it in, which is the nearest we speak
   * where the client's is none of ours. Without it a CONNECT is answered by closing.
   */
  readonly answerAs: ProtocolVersion | undefined;

  constructor(reasonCode: number, reason: string, answerAs?: ProtocolVersion) {
    this.reasonCode = reasonCode;
    this.reason = reason;
    this.answerAs = answerAs;
  }
}
