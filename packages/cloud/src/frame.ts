import { createHash } from 'node:crypto';

/** A text for the gateway. Connections that are sent the same share one, so that it is hashed once. */
export class Frame {
  readonly text: string;
  /** The text in UTF-8, one character for each byte: what goes over the wire. */
  readonly bytes: string;
  /** MQTT packets in it. */
  readonly packets: number;
  /** Something in it is more than QoS 0: to lose it is to lose the connection. */
  readonly mustArrive: boolean;
  #sha256: string | undefined;

  constructor(text: string, packets = 0, mustArrive = false) {
    this.text = text;
    // Base64 and JSON without names have one byte for each character.
    this.bytes = Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
    this.packets = packets;
    this.mustArrive = mustArrive;
  }

  /** In hexadecimal. */
  get sha256(): string {
    this.#sha256 ??= createHash('sha256').update(this.text).digest('hex');
    return this.#sha256;
  }
}
