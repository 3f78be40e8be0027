import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from './is-running.ts';

/**
 * A new folder for this process, which is removed when the process ends. A process that is killed outright leaves its
 * folder behind: the next process that asks for a folder of the same name removes it.
 *
 * @param name begins the folder's name, which the id of the process follows
 * @param parent where the folder is made
 */
export function scratchFolder(name: string, parent: string = tmpdir()): string {
  removeLeftBehind(name, parent);
  const folder = mkdtempSync(join(parent, `${name}-${process.pid}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  // Vitest ends its workers in this way. Without a listener the signal ends the process.
  process.once('SIGTERM', () => {
    remove();
    process.kill(process.pid, 'SIGTERM');
  });
  return folder;
}

function removeLeftBehind(name: string, parent: string): void {
  for (const other of readdirSync(parent)) {
    if (!other.startsWith(`${name}-`)) continue;
    const [, pid] = /^(\d+)-/.exec(other.slice(name.length + 1)) ?? [];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(parent, other), { recursive: true, force: true });
  }
}
