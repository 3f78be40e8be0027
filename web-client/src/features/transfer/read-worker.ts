import { type ReadReport, reportFile } from './read-reports.ts';

/** Globals of a worker that TypeScript's DOM library does not declare. */
interface WorkerGlobals {
  postMessage(report: ReadReport, moved: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent<File>) => void) | null;
}

const globals = globalThis as unknown as WorkerGlobals;

globals.onmessage = ({ data }) =>
  void reportFile(data, (report, moved) => globals.postMessage(report, moved));
