import { create } from 'zustand';
import { newId } from '../../engine/new-profile.ts';
import type { ConnectionProfile } from '../../engine/types.ts';
import { secretsOf } from '../../state/secrets.ts';
import { setUnfinished } from '../../state/unfinished.ts';
import type { BenchCommand, BenchReport } from './bench-protocol.ts';
import { type BenchPlan, DEFAULT_PLAN } from './plan.ts';
import type { BenchPhase, BenchResult } from './result.ts';

export interface BenchState {
  readonly plan: BenchPlan;
  /** The present run, or the last one. */
  readonly result: BenchResult | undefined;
}

export const useBench = create<BenchState>(() => ({ plan: DEFAULT_PLAN, result: undefined }));

let worker: Worker | undefined;

export function isRunning(phase: BenchPhase | undefined): boolean {
  return phase === 'connecting' || phase === 'publishing' || phase === 'draining';
}

/** Begins a run against the server of a connection, with its own connections. */
export function startBench(profile: ConnectionProfile): void {
  worker?.terminate();
  const { plan } = useBench.getState();
  const startedAt = new Date().toISOString();
  const made = new Worker(new URL('./bench-worker.ts', import.meta.url), {
    type: 'module',
    name: 'apus-bench',
  });
  worker = made;
  made.addEventListener('message', ({ data }: MessageEvent<BenchReport>) => {
    setUnfinished('bench', isRunning(data.phase));
    useBench.setState({ result: { plan, url: profile.url, startedAt, snapshot: data } });
    // Its connections have sent DISCONNECT; their pending answers end with the worker.
    if (!isRunning(data.phase)) setTimeout(() => made.terminate(), DISCONNECT_WAIT_MS);
  });
  const start: BenchCommand = {
    type: 'start',
    run: newId().slice(0, 8),
    plan,
    target: { profile, secrets: secretsOf(profile.id) },
  };
  made.postMessage(start);
}

/** Time for the DISCONNECTs of a run that has ended. */
const DISCONNECT_WAIT_MS = 6_000;

export function stopBench(): void {
  const stop: BenchCommand = { type: 'stop' };
  worker?.postMessage(stop);
}

export function setPlan(changes: Partial<BenchPlan>): void {
  useBench.setState(({ plan }) => ({ plan: { ...plan, ...changes } }));
}
