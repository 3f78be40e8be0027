import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/** The machine that a report was made on. */
export interface MachineInfo {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly system: string;
  readonly node: string;
  /** Files, and so connections, that one process may open; undefined where the system does not say. */
  readonly openFilesMax: number | undefined;
}

export function machineInfo(): MachineInfo {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    openFilesMax: openFilesMax(),
  };
}

/** At its start Node.js raises its own limit as far as allowed; its diagnostic report contains the result. */
export function openFilesMax(): number | undefined {
  const report = process.report?.getReport() as unknown as
    | { userLimits?: { open_files?: { soft: number | string } } }
    | undefined;
  const soft = report?.userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
