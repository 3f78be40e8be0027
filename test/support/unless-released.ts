import { ReasonCode } from '@apus/mqtt';

/** A client that did not get PUBCOMP repeats PUBREL, and is told that the message is done with: mqtt.js calls it an error. */
export function unlessReleased(error: unknown): void {
  if ((error as { code?: number }).code !== ReasonCode.PacketIdentifierNotFound) throw error;
}
