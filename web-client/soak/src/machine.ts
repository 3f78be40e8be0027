import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

/** Linux's file on how long processes have waited for a processor. */
const PRESSURE = '/proc/pressure/cpu';

/** The machine of the measurements, in one line. */
export function machineText(browserVersion: string): string {
  const processors = cpus();
  const memoryGiB = Math.round(totalmem() / 1024 ** 3);
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, ${processors.length} × ${processors[0]?.model.trim() ?? 'processor'}, ${memoryGiB} GiB, Node.js ${process.versions.node}, Chromium ${browserVersion}, headless`;
}

/** The load of the machine: if more processes want a processor than there are processors, they queue. */
export function loadText(): string {
  const load = `Load average at the end: ${(loadavg()[0] ?? 0).toFixed(1)}`;
  const [, waited] = existsSync(PRESSURE)
    ? (/some .*avg300=([\d.]+)/.exec(readFileSync(PRESSURE, 'utf8')) ?? [])
    : [];
  return waited === undefined
    ? `${load}.`
    : `${load}; in ${waited} % of the last five minutes something waited for a processor.`;
}
