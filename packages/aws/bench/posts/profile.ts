import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

const INTERVAL_MICROSECONDS = 200;

/** Writes a CPU profile of what `run` does to a file, for the tools of Chromium; without a file only runs it. */
export async function profiled(file: string | undefined, run: () => Promise<void>): Promise<void> {
  if (file === undefined) return await run();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROSECONDS });
  await session.post('Profiler.start');
  await run();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  writeFileSync(file, JSON.stringify(profile));
}
