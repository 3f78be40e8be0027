import type { ProbeTarget } from './probe-client.ts';

/** The observation of one item, which only a real account can show. */
export interface Finding {
  /** `differs`: the deployment behaves otherwise than the design assumes. */
  readonly verdict: 'passed' | 'differs' | 'not tried';
  /** The observation, in a sentence. */
  readonly seen: string;
}

export interface ProbeContext extends ProbeTarget {
  /** The endpoint for backends, for messages that a client cannot send itself. */
  readonly publish: { readonly url: string; readonly key: string | undefined } | undefined;
  /** Seconds for which `redeployment` keeps its connections open. */
  readonly holdSeconds: number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly say: (line: string) => void;
}

/** One item to try. */
export interface ProbeItem {
  readonly name: string;
  readonly summary: string;
  /** About how many messages API Gateway bills for it, or an object receives. */
  readonly billedMessages: number;
  /** About how many seconds it takes; undefined: it is only tried when it is requested by name. */
  readonly seconds: number | undefined;
  /** @throws {ProbeError} if the item cannot be tried */
  run(context: ProbeContext): Promise<Finding>;
}

export const passed = (seen: string): Finding => ({ verdict: 'passed', seen });
export const differs = (seen: string): Finding => ({ verdict: 'differs', seen });
export const notTried = (seen: string): Finding => ({ verdict: 'not tried', seen });

/** Polls until the condition holds, or the time is over. */
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
