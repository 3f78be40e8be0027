/** A frame that breaks RFC 6455: a value, which ends the connection. */
export class FrameViolation {
  /** The WebSocket is closed with it. */
  readonly code: number;
  /** A sentence for the close frame and the log. */
  readonly reason: string;

  constructor(code: number, reason: string) {
    this.code = code;
    this.reason = reason;
  }
}
