/** Carries a test client's MQTT bytes: binary frames at the node door, text frames at the gateway door. */
export interface Wire {
  /** Sends one packet, or the bytes that a test sends instead. */
  send(bytes: Uint8Array): void;
  /** Sends a text frame unchanged. */
  sendText(text: string): void;
  /** Cuts the TCP connection without DISCONNECT and without a close frame. */
  terminate(): void;
  /** Reads nothing from the network until `resume`. Absent if the wire cannot do this. */
  pause?(): void;
  resume?(): void;
}

/** The events of a wire, for its client. */
export interface WireEvents {
  received(bytes: Buffer): void;
  /** With the WebSocket's close code. */
  closed(code: number): void;
}
