import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGatewayWorld } from './gateway-world.ts';
import { measureAll } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { COSTS_PAGE } from './page.ts';
import { type Row, rowOf } from './row.ts';
import { differences, readTable } from './table.ts';
import type { CountingWorld } from './world.ts';

/** The test uses real sockets. On a busy machine it takes long. */
const TIMEOUT_MS = 180_000;

describe('the cost of an operation at the gateway door', () => {
  const watched = OPERATIONS.filter(({ isLong = false }) => !isLong);
  let world: CountingWorld;
  let rows: readonly Row[];

  beforeAll(async () => {
    world = await startGatewayWorld(1);
    rows = (await measureAll(world, watched)).map((each) => rowOf(each));
  }, TIMEOUT_MS);
  afterAll(() => world.stop());

  it.each(watched.map(({ name }) => name))(
    '%s is what the table of loadtest/results/operations.md says',
    (name) => {
      const measured = rows.filter((row) => row.name === name);
      expect(measured).toHaveLength(1);
      const dearer = differences(measured, readTable(COSTS_PAGE));
      expect(dearer, 'if it is meant: npm run bench:cloud -- --write').toEqual([]);
    },
  );
});
