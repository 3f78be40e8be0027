import { create } from 'zustand';
import type { FileProblem } from './file-problem.ts';
import type { FileContent } from './read-file.ts';
import { startReading } from './start-reading.ts';

/** The file that the user chose for import. */
export interface ImportedFile {
  /** Another file has another one. */
  readonly number: number;
  readonly name: string;
  readonly bytes: number;
  /** Undefined while it is read. */
  readonly result: FileContent | FileProblem | undefined;
}

interface TransferState {
  readonly file: ImportedFile | undefined;
}

export const useTransfer = create<TransferState>(() => ({ file: undefined }));

let stopReading = (): void => {};

/** Reads the chosen file. It goes on behind a closed dialog. */
export function takeFile(file: File): void {
  stopReading();
  const number = (useTransfer.getState().file?.number ?? 0) + 1;
  const chosen = { number, name: file.name, bytes: file.size, result: undefined };
  useTransfer.setState({ file: chosen });
  stopReading = startReading(file, {
    onResult: (result) => useTransfer.setState({ file: { ...chosen, result } }),
  });
}

/** Forgets the file, also while it is read. */
export function putFileAside(): void {
  stopReading();
  useTransfer.setState({ file: undefined });
}
