import { publish, subscribe } from '../../support/text-client.ts';
import { connected, PAYLOAD } from './operation.ts';
import { publishOne } from './publish-operations.ts';
import type { BenchClient, World } from './world.ts';

/** More subscribers than the head of a filter holds. */
export const WIDE_SUBSCRIBERS = 12;

/** Filters of two levels, one of them with a wildcard: two shapes match every topic, as in the budgets. */
export async function enterShapes(world: World): Promise<BenchClient> {
  const client = await connected(world);
  for (const filter of ['shapes/literal', 'shapes/+', 'shapes/a/+']) {
    await world.whileTimePasses(client.exchange(subscribe(filter)));
  }
  for (let index = 0; index < WIDE_SUBSCRIBERS; index += 1) {
    const other = await connected(world);
    await other.exchange(subscribe('shapes/wide', { qos: 0 }));
  }
  return client;
}

/**
 * The environment has read everything that it reads once in a while: shapes, numbers, bans, and the length of the
 * queue.
 */
export async function warm(world: World, client: BenchClient): Promise<void> {
  const other = await connected(world);
  await other.exchange(subscribe('shapes/literal'));
  await client.exchange(publish('shapes/kept', PAYLOAD, { qos: 1, retain: true }));
  await publishOne(client, 'shapes/wide', 0);
  await world.quiet();
}
