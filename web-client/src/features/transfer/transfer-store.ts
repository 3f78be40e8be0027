import { create } from 'zustand';
import { connections } from '../../state/connections.ts';
import { setUnfinished } from '../../state/unfinished.ts';
import type { FileProblem } from './file-problem.ts';
import type { FileContent, ReadProgress } from './read-file.ts';
import { type ReplayPlan, type ReplayProgress, startReplay } from './replay.ts';
import { startReading } from './start-reading.ts';

/** The file that the user chose for import. */
export interface ImportedFile {
  /** Another file has another one. */
  readonly number: number;
  readonly name: string;
  readonly bytes: number;
  /** How far the reading is. */
  readonly progress: ReadProgress;
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

let stopReading = (): void => {};

/** Reads the chosen file. It goes on while other views are open. */
export function takeFile(file: File): void {
  stopReading();
  const number = (useTransfer.getState().file?.number ?? 0) + 1;
  const progress: ReadProgress = { phase: 'bytes', done: 0, total: file.size };
  const chosen = { number, name: file.name, bytes: file.size, progress, result: undefined };
  useTransfer.setState({ file: chosen });
  stopReading = startReading(file, {
    onProgress: (told) => useTransfer.setState({ file: { ...chosen, progress: told } }),
    onResult: (result) => useTransfer.setState({ file: { ...chosen, result } }),
  });
}

/** Forgets the file, also while it is read. */
export function putFileAside(): void {
  stopReading();
  useTransfer.setState({ file: undefined });
}

export function beginReplay(connectionId: string, plan: ReplayPlan): void {
  useTransfer.getState().replay?.stop();
  let stop = (): void => {};
  stop = startReplay(plan, {
    publish: (request) => connections.get(connectionId).publish(request),
    onProgress: (progress) => {
      setUnfinished('replay', progress.state === 'running');
      useTransfer.setState({ replay: { connectionId, progress, stop: () => stop() } });
    },
    now: () => performance.now(),
    later: (callback, delayMs) => {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
  });
}
