import type { IncomingMessage } from 'node:http';
import type { Random } from '../clock/random.ts';
import type { Settings } from '../options.ts';
import type { Handshake } from './events.ts';

/** The part of an upgrade request that is read. */
export type UpgradeRequest = Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress' | 'localPort'>;
};

/** Headers that end at API Gateway. */
const HOP_BY_HOP = new Set(['connection', 'upgrade']);

/** Headers and query of an upgrade request, as `$connect` gets them: names in the client's case, every value kept. */
export function readHandshake(
  request: UpgradeRequest,
  headerNames: Settings['headerNames'],
  random: Random,
): Handshake {
  // A client may give a header the name of an inherited member, as `constructor`. [SEC-FAULT-1]
  const values = new Map<string, string[]>();
  for (const [name, value] of headersOf(request, random)) {
    const spelt = spell(name, headerNames, random);
    values.set(spelt, [...(values.get(spelt) ?? []), value]);
  }
  const multiValueHeaders = Object.fromEntries(values);
  const query = multiValueQuery(request.url ?? '');
  return {
    headers: lastValues(multiValueHeaders),
    multiValueHeaders,
    ...(query && { queryStringParameters: lastValues(query), multiValueQueryStringParameters: query }),
  };
}

function* headersOf(request: UpgradeRequest, random: Random): Generator<[string, string]> {
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index] ?? '';
    if (!HOP_BY_HOP.has(name.toLowerCase())) yield [name, request.rawHeaders[index + 1] ?? ''];
  }
  const traceId = random.bytes(16).toString('hex');
  yield ['X-Amzn-Trace-Id', `Root=1-${traceId.slice(0, 8)}-${traceId.slice(8)}`];
  yield ['X-Forwarded-For', request.socket.remoteAddress ?? ''];
  yield ['X-Forwarded-Port', String(request.socket.localPort)];
  yield ['X-Forwarded-Proto', 'http'];
}

function spell(name: string, headerNames: Settings['headerNames'], random: Random): string {
  if (headerNames === 'as-sent') return name;
  if (headerNames === 'lower-case') return name.toLowerCase();
  return Array.from(name, (letter) =>
    random.happens(0.5) ? letter.toUpperCase() : letter.toLowerCase(),
  ).join('');
}

function multiValueQuery(url: string): Record<string, string[]> | undefined {
  const parameters = new URL(url, 'ws://localhost').searchParams;
  if (parameters.size === 0) return undefined;
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]));
}

function lastValues(values: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1) ?? '']));
}
