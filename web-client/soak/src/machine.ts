import { cpus, loadavg, totalmem } from 'node:os';

/** What the numbers were measured on, in one line. */
export function machineText(browserVersion: string): string {
  const processors = cpus();
  const memoryGiB = Math.round(totalmem() / 1024 ** 3);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, ${processors.length} × ${processors[0]?.model.trim() ?? 'processor'}, ${memoryGiB} GiB, Node.js ${process.versions.node}, Chromium ${browserVersion}, headless`;
}

/** Processes that wanted a processor in the last minute, on average: more than there are processors is a queue. */
export function loadText(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
