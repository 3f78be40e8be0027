import { FileProblem } from './file-problem.ts';
import type { FiledMessage } from './message-record.ts';
import type { FileContent } from './read-file.ts';
import { problemOf, type ReadReport } from './read-reports.ts';

/** The part of a worker that is used. */
export type ReadingWorker = Pick<Worker, 'postMessage' | 'addEventListener' | 'terminate'>;

export interface ReadingEvents {
  /** Called once, at the end. */
  readonly onResult: (result: FileContent | FileProblem) => void;
}

/**
 * Reads a file in a separate worker: 128 MiB of JSON take seconds, in which the page goes on.
 *
 * @returns a function that stops it. After that nothing is reported.
 */
export function startReading(
  file: Blob,
  { onResult }: ReadingEvents,
  open: () => ReadingWorker = openWorker,
): () => void {
  const worker = open();
  const messages: FiledMessage[] = [];
  let isOver = false;
  const stop = (): void => {
    isOver = true;
    worker.terminate();
  };
  const end = (result: FileContent | FileProblem): void => {
    if (isOver) return;
    stop();
    onResult(result);
  };
  worker.addEventListener('message', ({ data }: MessageEvent<ReadReport>) => {
    // Reports that were sent before the stop may still be on their way.
    if (isOver) return;
    if (data.type === 'piece') messages.push(...data.messages);
    else if (data.type === 'problem') end(new FileProblem(data.key, data.values, data.place));
    else end(data.content.type === 'messages' ? { ...data.content, messages } : data.content);
  });
  // The script was not loaded, or the heap was too small.
  worker.addEventListener('error', ({ message }) => end(problemOf(message)));
  worker.postMessage(file);
  return stop;
}

function openWorker(): ReadingWorker {
  return new Worker(new URL('./read-worker.ts', import.meta.url), { type: 'module', name: 'apus-file' });
}
