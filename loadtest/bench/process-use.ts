import { readFileSync } from 'node:fs';

/** Linux counts CPU time in ticks of this length on every architecture that Node.js runs on (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** The resources that a process has used so far. */
export interface ProcessUse {
  /** CPU time of all its threads, in user and kernel mode. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/**
 * Reads the resources that a process has used, with all of its threads.
 *
 * @throws {Error} if there is no such process, or no /proc
 */
export function processUse(pid: number): ProcessUse {
  return {
    cpuSeconds: cpuSecondsOf(readFileSync(`/proc/${pid}/stat`, 'utf8')),
    residentBytes: residentBytesOf(readFileSync(`/proc/${pid}/status`, 'utf8')),
  };
}

/** utime and stime are fields 14 and 15; field 2, the name, is in parentheses and may contain blanks. */
export function cpuSecondsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return (userTicks + systemTicks) / TICKS_PER_SECOND;
}

export function residentBytesOf(status: string): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new Error('/proc does not say how much memory is resident');
  return Number(kilobytes) * 1024;
}
