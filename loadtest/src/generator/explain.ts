/** Explains a refused handshake, a closed socket or the system's error code in a sentence. */

const OPEN_FILES =
  'this process may open no more files (`ulimit -n`): use more processes (--processes), or a smaller size (--scale)';

const CODES: Readonly<Record<string, (where: string) => string>> = {
  ECONNREFUSED: (where) => `no server listens at ${where}`,
  ENOTFOUND: (where) => `there is no host of that name (${where})`,
  EAI_AGAIN: (where) => `the name of the host cannot be looked up (${where})`,
  ETIMEDOUT: (where) => `no answer from ${where}`,
  EHOSTUNREACH: (where) => `${where} cannot be reached`,
  ECONNRESET: () => 'the broker, or something in between, cut the connection',
  EPIPE: () => 'the broker, or something in between, cut the connection',
  EADDRNOTAVAIL: (where) =>
    `this machine has no ports left for connections to ${where}: about 28,000 fit between two addresses`,
  EMFILE: () => OPEN_FILES,
  ENFILE: () => 'this machine may open no more files',
  DEPTH_ZERO_SELF_SIGNED_CERT: (where) => `the certificate of ${where} is self-signed`,
  CERT_HAS_EXPIRED: (where) => `the certificate of ${where} has expired`,
};

export function explainError(error: unknown, url: string): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  const code = (first as NodeJS.ErrnoException | undefined)?.code;
  const explain = code === undefined ? undefined : CODES[code];
  if (explain !== undefined) return explain(hostOf(url));
  return first instanceof Error ? first.message : String(first);
}

export function explainStatus(status: number, body: string): string {
  const answer = body === '' ? '' : `: ${body.replaceAll(/\s+/g, ' ')}`;
  if (status === 429) return `the gateway throttles new connections (HTTP 429)${answer}`;
  if (status === 503) return `the broker takes no more connections (HTTP 503)${answer}`;
  if (status === 401 || status === 403)
    return `the broker wants to know who you are (HTTP ${status})${answer}`;
  return `the handshake was answered with HTTP ${status}${answer}`;
}

const CLOSE_CODES: Readonly<Record<number, string>> = {
  1001: 'the gateway ended the connection (1001): ten idle minutes, or two hours',
  1003: 'the gateway door takes text frames only (1003)',
  1006: 'the connection broke',
  1008: 'the gateway throttles this client (1008)',
  1009: 'a frame was too large (1009)',
};

export function explainClose(code: number, reason: string | undefined, url: string): string {
  if (reason !== undefined) return explainMessage(reason, url);
  return CLOSE_CODES[code] ?? `the gateway closed the connection (code ${code})`;
}

/** A system error that reached us as text only. */
function explainMessage(message: string, url: string): string {
  const code = /\b(E[A-Z]{3,})\b/.exec(message)?.[1];
  const explain = code === undefined ? undefined : CODES[code];
  return explain === undefined ? message : explain(hostOf(url));
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
