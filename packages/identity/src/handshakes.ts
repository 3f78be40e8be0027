import type { Awaitable, Identity, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';

/** The query parameter that holds the token: a browser can set no header (docs/text-frames.md). */
const TOKEN_PARAMETER = 'token';

/** The parts of a WebSocket's HTTP request that a door passes on. */
export interface HandshakeRequest {
  header(lowerCaseName: string): string | undefined;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Address of the client, perhaps with its port. */
  readonly address: string;
}

/** A refused handshake. `reason` is for the log and for the developer who reads the answer. */
export interface HandshakeRefused {
  readonly status: 401 | 403 | 429 | 503;
  readonly reason: string;
}

/** The identity of a handshake. Without one, CONNECT has to authenticate the client. */
export interface HandshakeTaken {
  readonly identity: Identity | undefined;
}

export interface HandshakesOptions {
  /** Checks a token; a `Chain` does. */
  readonly chain: { verify(token: string, address: string): Awaitable<Identity | Refusal> };
  /** Name of the cookie that may hold the token. Needs a list of allowed origins at the door. @default none */
  readonly cookie?: string | undefined;
  /** A handshake without a token is accepted; then CONNECT has to have a user name and a password. */
  readonly allowsPassword: boolean;
}

/** Authenticates a handshake, before a socket exists that would cost something. */
export class Handshakes {
  readonly #options: HandshakesOptions;

  constructor(options: HandshakesOptions) {
    this.#options = options;
  }

  identify(request: HandshakeRequest): Awaitable<HandshakeTaken | HandshakeRefused> {
    const token = tokenOf(request, this.#options.cookie);
    if (token !== undefined) return this.#verify(token, request.address);
    return this.#options.allowsPassword ? { identity: undefined } : MISSING;
  }

  async #verify(token: string, address: string): Promise<HandshakeTaken | HandshakeRefused> {
    const answer = await this.#options.chain.verify(token, address);
    return 'refused' in answer ? { status: statusOf(answer), reason: answer.reason } : { identity: answer };
  }
}

const MISSING: HandshakeRefused = {
  status: 401,
  reason: `This endpoint asks for a token, in the query parameter "${TOKEN_PARAMETER}" or as "Authorization: Bearer TOKEN".`,
};

/**
 * The token of a handshake. A credential that the program sends takes precedence over a cookie, which the browser adds.
 */
export function tokenOf(request: HandshakeRequest, cookie: string | undefined): string | undefined {
  const { [TOKEN_PARAMETER]: parameter } = request.query;
  const token = parameter || bearerOf(request.header('authorization'));
  if (token || cookie === undefined) return token || undefined;
  return cookieOf(request.header('cookie'), cookie);
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** RFC 6265, section 4.2: pairs separated by semicolons; a value may be in quotes. */
function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    return (
      pair
        .slice(equals + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1') || undefined
    );
  }
  return undefined;
}

function statusOf({ refused }: Refusal): HandshakeRefused['status'] {
  switch (refused) {
    case ReasonCode.ServerUnavailable:
    case ReasonCode.ServerBusy:
      return 503;
    case ReasonCode.ConnectionRateExceeded:
    case ReasonCode.QuotaExceeded:
      return 429;
    default:
      return 403;
  }
}
