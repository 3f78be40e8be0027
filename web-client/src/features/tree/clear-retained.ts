import type { LiveConnection, Outcome, Qos } from '../../engine/types.ts';
import { CLEARS_OUTSTANDING_MAX } from './limits.ts';
import type { TopicNode } from './topic-node.ts';

/** Selects the topics to clear at or below a node. */
export type ClearScope = 'retained' | 'all';

export interface ClearProgress {
  readonly total: number;
  readonly cleared: number;
  readonly failed: number;
  /** The reason of the first failure. */
  readonly firstFailure: { readonly topic: string; readonly outcome: Outcome } | undefined;
  readonly isDone: boolean;
}

export interface ClearOptions {
  readonly qos: Qos;
  /** The server's Receive Maximum, or undefined where it named none. */
  readonly receiveMaximum: number | undefined;
}

const EMPTY = new Uint8Array(0);

/** The topics to clear: those with a known retained message, or all topics with a message. */
export function topicsToClear(node: TopicNode, scope: ClearScope): string[] {
  const topics: string[] = [];
  const add = (below: TopicNode): void => {
    if (scope === 'retained' && below.retainedBelow === 0) return;
    if (below.topic !== undefined && (scope === 'all' || below.isRetained)) topics.push(below.topic);
    for (const child of below.children) add(child);
  };
  add(node);
  return topics;
}

/**
 * Publishes an empty retained message to each topic (3.3.1.3), a window at a time.
 * @param onProgress called after each answer, and once at the end
 * @returns a function that stops it; pending publishes are still answered
 */
export function clearRetained(
  connection: Pick<LiveConnection, 'publish'>,
  topics: readonly string[],
  { qos, receiveMaximum = CLEARS_OUTSTANDING_MAX }: ClearOptions,
  onProgress: (progress: ClearProgress) => void,
): () => void {
  const outstandingMax = Math.min(CLEARS_OUTSTANDING_MAX, receiveMaximum);
  let next = 0;
  let cleared = 0;
  let failed = 0;
  let outstanding = 0;
  let end = topics.length;
  let firstFailure: ClearProgress['firstFailure'];

  const tell = (): void => {
    const isDone = outstanding === 0 && next >= end;
    onProgress({ total: topics.length, cleared, failed, firstFailure, isDone });
  };
  const fill = (): void => {
    while (outstanding < outstandingMax && next < end) {
      const topic = topics[next] ?? '';
      next += 1;
      outstanding += 1;
      void connection.publish({ topic, payload: EMPTY, qos, retain: true }).then((outcome) => {
        outstanding -= 1;
        if (outcome.ok) cleared += 1;
        else {
          failed += 1;
          firstFailure ??= { topic, outcome };
        }
        fill();
        tell();
      });
    }
  };
  fill();
  if (topics.length === 0) tell();
  return () => {
    end = next;
  };
}
