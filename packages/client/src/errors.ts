import { NOT_TAKEN_MAX, SUBPROTOCOL } from './limits.ts';

/** The kind of the error, for programs. The message says what to do about it. */
export type TransportErrorCode =
  /** The socket could not be made: no WebSocket class, a bad URL, or `token()` or `signUrl()` failed. */
  | 'cannot-open'
  /** The server did not choose the subprotocol: it is not a gateway door. */
  | 'wrong-subprotocol'
  /** The gateway could not run the handler. */
  | 'gateway-error'
  /** No reply within `replyTimeoutSeconds`. */
  | 'no-reply'
  /** The server sent what docs/text-frames.md does not allow. */
  | 'unreadable-frame'
  /** The server took none of a frame's packets, time after time. */
  | 'not-taken'
  /** More had to wait than the transport holds. */
  | 'too-much-waiting'
  /** A packet does not fit into a frame and was not sent. */
  | 'packet-too-large'
  /** `token()` failed, or gave no token that ends later; it is asked again. */
  | 'no-new-token'
  /** The token has ended, and there was no new one in time. */
  | 'token-expired'
  /** The server renews no tokens, as it asks for none. */
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

/** The gateway's own errors, and advice for each. It is unknown in every case whether the frame was handled. */
const GATEWAY_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/internal server error/i, 'the handler failed: search its log for the request id'],
  [/timed out/i, 'the handler took too long: look at its duration'],
  [/limit|throttl|too many/i, 'the account is throttled: send less often, or have its quota raised'],
  [/forbidden|unauthorized/i, 'check the route $default and its authorization'],
];

/** From the JSON text of an error frame. */
export function gatewayError(text: string): TransportError {
  const [, advice] = GATEWAY_ADVICE.find(([pattern]) => pattern.test(text)) ?? [];
  return new TransportError(
    'gateway-error',
    `The gateway answered ${text.slice(0, 500)}: ${advice ?? 'see its log'}.`,
  );
}

const CLOSE_ADVICE: Readonly<Record<number, string>> = {
  1000: 'closed in order',
  1001: 'ended by the gateway: ten idle minutes, or two hours',
  1003: 'a binary frame was sent',
  1006: 'cut, or refused in the handshake: check the URL, the token and the network',
  1008: 'throttled: send less often, or have the quota raised',
  1009: 'a frame was larger than the gateway takes',
  1011: 'the gateway failed',
  1012: 'the gateway restarts',
};

export function closeAdvice(code: number): string {
  return CLOSE_ADVICE[code] ?? 'given up: see the error before';
}

export function noReply(replyTimeoutMs: number): TransportError {
  return new TransportError(
    'no-reply',
    `No reply within ${replyTimeoutMs / 1_000} s: the network is gone or the handler died. What was being sent may have arrived.`,
  );
}

export function noNewToken(cause: unknown): TransportError {
  const why = cause === undefined ? 'gave none that ends later' : `failed: ${messageOf(cause)}`;
  return new TransportError('no-new-token', `The token is not renewed yet, as token() ${why}.`, cause);
}

export function tokenExpired(): TransportError {
  return new TransportError(
    'token-expired',
    'The token has expired before the server had taken a new one. Reconnecting with another.',
  );
}

export function renewalUnknown(): TransportError {
  return new TransportError(
    'renewal-unknown',
    'The server asks for no tokens. Reconnecting without its renewal.',
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function notTaken(): TransportError {
  return new TransportError(
    'not-taken',
    `The server took no packet of a frame ${NOT_TAKEN_MAX} times in a row: look at the duration of its handlers, or send smaller SUBSCRIBEs.`,
  );
}

export function unreadable(why: string): TransportError {
  return new TransportError(
    'unreadable-frame',
    `The server sent ${why}: are client and server of different versions?`,
  );
}

export function tooMuchWaiting(): TransportError {
  return new TransportError(
    'too-much-waiting',
    'Over 1,000 messages or 4 MiB came before the reply they wait for: subscribe to less at once.',
  );
}

export function wrongSubprotocol(protocol: string): TransportError {
  return new TransportError(
    'wrong-subprotocol',
    `The server chose the subprotocol "${protocol}" instead of ${SUBPROTOCOL}: is the URL that of the gateway door?`,
  );
}

export function tooSlow(): TransportError {
  return new TransportError(
    'too-much-waiting',
    'Over 4 MiB wait for the application: handle messages faster, or subscribe to less.',
  );
}
