import { startCounting } from './object-world.ts';
import type { ObjectOperation } from './operations.ts';
import { type Row, rowOf } from './table.ts';

const MOMENT_MS = 2_000;

/** Counts one operation after another, each in a hub of its own. */
export async function measureObject(operations: readonly ObjectOperation[]): Promise<readonly Row[]> {
  const workerd = await startCounting();
  const rows: Row[] = [];
  try {
    for (const operation of operations) {
      const world = await workerd.world();
      const run = await operation.prepare(world);
      // The preparation is no part of the moment that is measured.
      await world.pass(MOMENT_MS);
      await world.rest();
      await world.reset();
      await run();
      await world.rest();
      rows.push(rowOf(operation, await world.counted()));
    }
  } finally {
    await workerd.stop();
  }
  return rows;
}
