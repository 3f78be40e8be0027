import { create } from 'zustand';
import { connections } from '../../state/connections.ts';
import type { FileProblem } from './file-problem.ts';
import type { FileContent } from './read-file.ts';
import { type ReplayPlan, type ReplayProgress, startReplay } from './replay.ts';

/** What was chosen for import. */
export interface ImportedFile {
  /** Another file has another one. */
  readonly number: number;
  readonly name: string;
  readonly bytes: number;
  /** Undefined while it is read. */
  readonly result: FileContent | FileProblem | undefined;
}

export interface RunningReplay {
  readonly connectionId: string;
  readonly progress: ReplayProgress;
  readonly stop: () => void;
}

interface TransferState {
  readonly file: ImportedFile | undefined;
  /** It goes on while other views are open. */
  readonly replay: RunningReplay | undefined;
}

export const useTransfer = create<TransferState>(() => ({ file: undefined, replay: undefined }));

export function beginReplay(connectionId: string, plan: ReplayPlan): void {
  useTransfer.getState().replay?.stop();
  let stop = (): void => {};
  stop = startReplay(plan, {
    publish: (request) => connections.get(connectionId).publish(request),
    onProgress: (progress) =>
      useTransfer.setState({ replay: { connectionId, progress, stop: () => stop() } }),
    now: () => performance.now(),
    later: (callback, delayMs) => {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
  });
}
