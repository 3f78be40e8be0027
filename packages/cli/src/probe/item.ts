import type { ProbeTarget } from './probe-client.ts';

/** The observation of one item that only a real account can show. */
export interface Finding {
  /** `differs`: not as the design assumes. */
  readonly verdict: 'passed' | 'differs' | 'not tried';
  /** The observation, in a sentence. */
  readonly seen: string;
}

export interface ProbeContext extends ProbeTarget {
  /** The endpoint of backends, for messages that a client cannot send itself. */
  readonly publish: { readonly url: string; readonly key: string | undefined } | undefined;
  /** Seconds for which `redeployment` holds its connections. */
  readonly holdSeconds: number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly say: (line: string) => void;
}

/** One thing to try. */
export interface ProbeItem {
  readonly name: string;
  readonly summary: string;
  /** Messages that API Gateway bills for it, about. */
  readonly billedMessages: number;
  /** Seconds that it takes, about; undefined: it is only tried when it is asked for by its name. */
  readonly seconds: number | undefined;
  /** @throws {ProbeError} when there is no trying it */
  run(context: ProbeContext): Promise<Finding>;
}

export const passed = (seen: string): Finding => ({ verdict: 'passed', seen });
export const differs = (seen: string): Finding => ({ verdict: 'differs', seen });
export const notTried = (seen: string): Finding => ({ verdict: 'not tried', seen });

/** Asks again until it is so, or the time is over. */
export async function until(
  isSo: () => boolean,
  msMax: number,
  sleep: (ms: number) => Promise<void>,
): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < msMax; waitedMs += POLL_MS) {
    if (isSo()) return true;
    await sleep(POLL_MS);
  }
  return isSo();
}

const POLL_MS = 50;
