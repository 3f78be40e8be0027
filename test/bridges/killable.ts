import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Built, Serving } from '@apus/cli/testing';
import { onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';

export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'apus-bridge-kill-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** `apus serve` with a data directory and a port that stay the same over kills. */
export async function startKillable(
  built: Built,
  queueLengthMax: number,
  args: readonly string[],
): Promise<{ url: string; kill(): Promise<void> }> {
  const port = await freePort();
  const all = [
    '--data',
    directory(),
    '--port',
    String(port),
    '--queue-length-max',
    String(queueLengthMax),
    ...args,
  ];
  let serving: Serving = await built.serve(all);
  const { url } = serving;
  return {
    url,
    async kill() {
      await serving.stop('SIGKILL');
      serving = await built.serve(all);
    },
  };
}
