import { ReasonCode } from '@apus/mqtt';

/**
 * A client that did not get PUBCOMP repeats PUBREL, and is told that the message is already complete: mqtt.js reports
 * an error.
 */
export function unlessReleased(error: unknown): void {
  if ((error as { code?: number }).code !== ReasonCode.PacketIdentifierNotFound) throw error;
}
