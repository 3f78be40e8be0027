import type { BenchOperation } from './operation.ts';
import { enterShapes, warm } from './shapes.ts';
import type { Counted, CountingWorld } from './world.ts';

/** The measured usage of one operation. */
export interface Measurement {
  readonly operation: Pick<BenchOperation, 'name' | 'deliveries' | 'floor'>;
  readonly counted: Counted;
}

/** Longer than a shape counts as new. Later a SUBACK does not wait. */
const SHAPES_AGE_MS = 10_000;

/** Measures one operation after another in one world. */
export async function measureAll(
  world: CountingWorld,
  operations: readonly BenchOperation[],
  onMeasured: (measurement: Measurement) => void = () => {},
): Promise<readonly Measurement[]> {
  const helper = await enterShapes(world);
  await world.pass(SHAPES_AGE_MS);
  const measurements: Measurement[] = [];
  for (const [index, operation] of operations.entries()) {
    // Names of one length, so that items have the same size wherever an operation stands in the list.
    const topic = `bench/topic-${String(index).padStart(4, '0')}`;
    const act = await operation.prepare(world, topic);
    await world.quiet();
    world.coolDown();
    await warm(world, helper);
    world.reset();
    await act();
    await world.quiet();
    const measurement = { operation, counted: world.counted() };
    if (world.failures.length > 0) {
      throw new Error(`${operation.name}: ${world.failures.join('\n')}`);
    }
    measurements.push(measurement);
    onMeasured(measurement);
  }
  return measurements;
}
