import { UNCONFIRMED_MAX } from './limits.ts';

/**
 * QoS 1 messages that the library has, and whose acknowledgement the server may not have: packet identifiers, and
 * whether the library has acknowledged them. A server that resumes the session sends them again; without this list the
 * library would hand them over twice.
 */
export class Unconfirmed extends Map<number, boolean> {
  /** The library gets this message. */
  deliver(packetId: number): void {
    this.set(packetId, false);
    const [oldest = 0] = this.keys();
    if (this.size > UNCONFIRMED_MAX) this.delete(oldest);
  }

  acknowledge(packetId: number): void {
    if (this.has(packetId)) this.set(packetId, true);
  }
}
