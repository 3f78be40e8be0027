import { NOT_TAKEN_MAX } from './limits.ts';

/** The kind of the error, for programs. The message says what to do about it. */
export type TransportErrorCode =
  /** The socket could not be made: no WebSocket class, a bad URL, or `token()` or `signUrl()` failed. */
  | 'cannot-open'
  /** The server chose none of the subprotocols: it speaks no MQTT. */
  | 'wrong-subprotocol'
  /** The gateway could not run the handler. */
  | 'gateway-error'
  /** The server did not reply within `replyTimeoutSeconds`. */
  | 'no-reply'
  /** The server sent what docs/text-frames.md does not allow. */
  | 'unreadable-frame'
  /** The server took none of a frame's packets, time after time. */
  | 'not-taken'
  /** More packets had to wait than the transport holds. */
  | 'too-much-waiting'
  /** A packet does not fit into a frame and was not sent. */
  | 'packet-too-large'
  /** `token()` failed, or returned no token that ends later; the transport calls it again. */
  | 'no-new-token'
  /** The token has expired, and `token()` has returned no new one in time. */
  | 'token-expired'
  /** The server does not renew tokens, since it does not ask for any. */
  | 'renewal-unknown';

/** An error of the transport; its message says what to do about it. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  /** The kind of the error, for programs. */
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Made from the JSON text of an error frame. The server may or may not have handled the client's frame. */
export function gatewayError(text: string): TransportError {
  return new TransportError('gateway-error', `The gateway answered ${text.slice(0, 500)}: search its log.`);
}

const CLOSE_ADVICE: Readonly<Record<number, string>> = {
  1000: 'in order',
  1001: 'idle, or two hours old',
  1003: 'a binary frame was sent',
  1006: 'cut or refused: check token and network',
  1008: 'throttled: send less',
  1009: 'too large a frame',
  1011: 'the gateway failed',
  1012: 'a restart',
  4001: 'in order',
};

export function closeAdvice(code: number): string {
  return CLOSE_ADVICE[code] ?? 'given up';
}

export function noReply(replyTimeoutMs: number): TransportError {
  return new TransportError(
    'no-reply',
    `No reply within ${replyTimeoutMs / 1_000} s. Packets that were being sent may have arrived.`,
  );
}

export function noNewToken(cause: unknown): TransportError {
  const why = cause === undefined ? 'gave no newer one' : `failed: ${messageOf(cause)}`;
  return new TransportError('no-new-token', `The token is not renewed yet: token() ${why}.`, cause);
}

export function tokenExpired(): TransportError {
  return new TransportError('token-expired', 'The token has expired.');
}

export function renewalUnknown(): TransportError {
  return new TransportError('renewal-unknown', 'The server asks for no tokens.');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function notTaken(): TransportError {
  return new TransportError(
    'not-taken',
    `The server took nothing ${NOT_TAKEN_MAX} times: send smaller SUBSCRIBEs.`,
  );
}

export function unreadable(why: string): TransportError {
  return new TransportError('unreadable-frame', `The server sent ${why}: is it of another version?`);
}

export function tooMuchWaiting(): TransportError {
  return new TransportError('too-much-waiting', 'Over 4 MiB wait for a reply.');
}

export function wrongSubprotocol(protocol: string): TransportError {
  return new TransportError(
    'wrong-subprotocol',
    `The server chose the subprotocol "${protocol}": does it speak MQTT?`,
  );
}

export function tooSlow(): TransportError {
  return new TransportError('too-much-waiting', 'Over 4 MiB wait for the application.');
}
