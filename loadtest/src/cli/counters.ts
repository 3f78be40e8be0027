import type { GatewayCounters } from '@apus/cost';
import { explainError } from '../generator/explain.ts';
import { isStreamUrl } from '../generator/stream-wire.ts';
import { CommandError } from './cli-error.ts';
import type { Target } from './target.ts';

/** A local broker answers at once or not at all. */
const ANSWER_MS = 2_000;

/** The fields that are read from the answer of `apus serve --counters`. */
export interface Counters {
  readonly gateway?: {
    readonly url: string;
    readonly counters: GatewayCounters & { readonly connections: { readonly open: number } };
  };
  readonly process: { readonly cpuMicroseconds: number; readonly residentBytes: number };
}

/** Asks a broker for its counters. */
export interface CounterSource {
  readonly url: string;
  read(): Promise<Counters>;
}

/**
 * The URL of the target's counters, if it has any: the given URL, or the one of `npm start`, whose two doors have
 * neighbouring ports. Counters of another broker are refused.
 *
 * @throws {CommandError} if a URL was given and does not answer for the target
 */
export async function findCounters(
  target: Target,
  given: string | undefined,
): Promise<CounterSource | undefined> {
  const url = given ?? guessOf(target);
  if (url === undefined) return undefined;
  const source: CounterSource = { url, read: () => readCounters(url) };
  try {
    const { gateway } = await source.read();
    if (target.door === 'gateway' && gateway?.url !== target.url)
      throw new Error(`it counts for ${gateway?.url ?? 'no gateway door'}, and not for ${target.url}`);
    return source;
  } catch (error) {
    if (given === undefined) return undefined;
    throw new CommandError(
      `The counters at ${url} cannot be used: ${explainError((error as Error).cause ?? error, url)}.`,
    );
  }
}

async function readCounters(url: string): Promise<Counters> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  if (!response.ok) throw new Error(`HTTP ${response.status}; start the broker with --counters`);
  return (await response.json()) as Counters;
}

/** The gateway door of `apus serve` has the port after the node door's, which has the counters. */
function guessOf({ url, door, isLocal }: Target): string | undefined {
  if (!isLocal || isStreamUrl(url)) return undefined;
  const { hostname, port } = new URL(url);
  const httpPort = door === 'gateway' ? Number(port) - 1 : Number(port);
  return `http://${hostname}:${httpPort}/counters`;
}
