import { type ReadReport, reportFile } from './read-reports.ts';

/** What TypeScript's DOM library does not say of a worker's globals. */
interface WorkerGlobals {
  postMessage(report: ReadReport, moved: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent<File>) => void) | null;
}

const globals = globalThis as unknown as WorkerGlobals;

globals.onmessage = ({ data }) =>
  void reportFile(data, (report, moved) => globals.postMessage(report, moved));
