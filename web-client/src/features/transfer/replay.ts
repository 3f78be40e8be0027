import type { LiveConnection, Trouble } from '../../engine/types.ts';
import { REPLAY_BATCH_MAX, REPLAY_OUTSTANDING_MAX, REPLAY_PROGRESS_MS, REPLAY_TICK_MS } from './limits.ts';
import type { FiledMessage } from './message-record.ts';

/** The pace of a replay. */
export type Pace =
  /** With the original distances, divided by `factor`. */
  | { readonly kind: 'original'; readonly factor: number }
  | { readonly kind: 'rate'; readonly perSecond: number }
  /** As fast as the server takes them. */
  | { readonly kind: 'fast' };

export interface ReplayPlan {
  readonly messages: readonly FiledMessage[];
  readonly pace: Pace;
  /** A prefix for every topic, so that subscribers of the original topics get nothing; may be ''. */
  readonly topicPrefix: string;
  /** Whether retained messages are retained again. */
  readonly keepsRetain: boolean;
}

export interface ReplayProgress {
  readonly total: number;
  readonly sent: number;
  readonly failed: number;
  readonly firstTrouble: Trouble | undefined;
  /** `stopped`: by the user. `offline`: the connection is gone. */
  readonly state: 'running' | 'done' | 'stopped' | 'offline';
}

export interface ReplayOptions {
  readonly publish: LiveConnection['publish'];
  readonly onProgress: (progress: ReplayProgress) => void;
  readonly now: () => number;
  /** Calls back once; returns a function that cancels it. */
  readonly later: (callback: () => void, delayMs: number) => () => void;
}

/** Publishes the messages of a file again, in order. Returns a function that stops it. */
export function startReplay(plan: ReplayPlan, options: ReplayOptions): () => void {
  const { messages } = plan;
  const startedAtMs = options.now();
  const firstAtMs = messages[0]?.atMs ?? 0;
  let next = 0;
  let sent = 0;
  let failed = 0;
  let firstTrouble: Trouble | undefined;
  let state: ReplayProgress['state'] = 'running';
  let toldAtMs = startedAtMs;
  let cancel = (): void => {};

  const tell = (): void => {
    toldAtMs = options.now();
    options.onProgress({ total: messages.length, sent, failed, firstTrouble, state });
  };
  const end = (how: ReplayProgress['state']): void => {
    if (state !== 'running') return;
    state = how;
    cancel();
    tell();
  };
  const publish = (message: FiledMessage): void => {
    void options.publish(requestOf(message, plan)).then(({ ok, trouble }) => {
      if (ok) sent += 1;
      else failed += 1;
      firstTrouble ??= trouble;
      // The rest would fail too: the user can begin again later.
      if (trouble?.kind === 'offline') end('offline');
      else if (sent + failed === messages.length) end('done');
    });
  };
  const tick = (): void => {
    const elapsedMs = options.now() - startedAtMs;
    const end = Math.min(next + REPLAY_BATCH_MAX, next + REPLAY_OUTSTANDING_MAX - (next - sent - failed));
    for (; next < end; next += 1) {
      const message = messages[next];
      if (message === undefined || dueMs(message, next, plan.pace, firstAtMs) > elapsedMs) break;
      publish(message);
    }
    if (options.now() - toldAtMs >= REPLAY_PROGRESS_MS) tell();
    // The replay ends with the last answers.
    cancel = options.later(tick, REPLAY_TICK_MS);
  };
  tell();
  tick();
  return () => end('stopped');
}

/** How long after the start a message is due. */
function dueMs({ atMs }: FiledMessage, index: number, pace: Pace, firstAtMs: number): number {
  if (pace.kind === 'fast') return 0;
  if (pace.kind === 'rate') return (index * 1_000) / pace.perSecond;
  return ((atMs ?? firstAtMs) - firstAtMs) / pace.factor;
}

/** How long a replay takes if the server keeps up; undefined if only the server sets the pace. */
export function replayDurationMs(messages: readonly FiledMessage[], pace: Pace): number | undefined {
  const last = messages.at(-1);
  if (last === undefined || pace.kind === 'fast') return undefined;
  return dueMs(last, messages.length - 1, pace, messages[0]?.atMs ?? 0);
}

function requestOf(
  { topic, payload, qos, retain, properties }: FiledMessage,
  { topicPrefix, keepsRetain }: ReplayPlan,
): Parameters<LiveConnection['publish']>[0] {
  return { topic: `${topicPrefix}${topic}`, payload, qos, retain: retain && keepsRetain, properties };
}
