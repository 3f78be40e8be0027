import { onTestFinished } from 'vitest';
import { type DoorsOptions, type RunningDoors, startDoors } from '../../src/index.ts';

/** A broker at free ports for the duration of one test. */
export async function doorsForTest(options: DoorsOptions = {}): Promise<RunningDoors> {
  const doors = await startDoors({ port: 0, logLevel: 'silent', ...options });
  onTestFinished(() => doors.stop());
  return doors;
}

export type Door = 'node' | 'gateway';

/** @param doors of a broker that was started with a `gatewayPort` */
export function urlOf(door: Door, { url, gateway }: RunningDoors): string {
  return door === 'node' ? url : (gateway?.url ?? '');
}
