import type { Cloud } from '@apus/aws/lambda';
import { addCounts, noUsage, USAGE_FIELDS, type UsageCounts, type UsageRow } from '@apus/broker';
import { createDynamoStores, leanClient } from '@apus/store-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { SESSIONS_TABLE, TABLE } from '../cloud/names.ts';
import type { InProcessWorld } from '../cloud/start-cloud-in-process.ts';
import { cases } from '../support/runs.ts';
import { DEFAULT_SIZE, runHistory, warmUp } from './history.ts';
import { reportOf } from './report.ts';

/** Seconds on an idle machine; a busy machine may need longer. */
const TIMEOUT_MS = 180_000;
const SIZE = { ...DEFAULT_SIZE, durationMs: 5_000 };
const SEEDS = cases([6], [3, 4]);
/** After the end of every history. */
const [FROM, TO] = ['2025-12-31T00', '2026-02-01T00'] as const;

beforeAll(warmUp, TIMEOUT_MS);

/** The bill of a history, and its counted usage. */
async function countedHistory(seed: number) {
  const clouds: Cloud[] = [];
  const worlds: InProcessWorld[] = [];
  const history = await runHistory({
    seed,
    size: SIZE,
    usage: true,
    alterations: { cloud: (cloud) => void clouds.push(cloud) },
    watched: (world) => void worlds.push(world),
  });
  const [world] = worlds;
  if (world === undefined) throw new Error('the history had no deployment');
  const { usage: store } = createDynamoStores({
    client: leanClient(world.dynamoDb.clientConfig()),
    ...{ tableName: TABLE, sessionsTableName: SESSIONS_TABLE, clock: { now: () => Date.now() } },
  });
  const sumOf = async (): Promise<UsageCounts> => {
    const rows: UsageRow[] = [];
    for await (const row of store.rows(FROM, TO)) rows.push(row);
    const sum = noUsage();
    for (const { counts } of rows) addCounts(sum, counts);
    return sum;
  };
  const written = await sumOf();
  // As if no environment had died before its last write.
  for (const cloud of clouds) await cloud.usage?.flush(store);
  const { messages, invocations } = world.emulator.counters.snapshot();
  const { count = 0, errors = 0, timeouts = 0 } = invocations.$default ?? {};
  const handled = count - errors - timeouts;
  return { history, written, all: await sumOf(), messages, handled, environments: clouds.length };
}

describe('usage during faults', () => {
  it.each(SEEDS)(
    'is never more than what is billed, and contains all that handlers accepted (seed %i)',
    async (seed) => {
      const { history, written, all, messages, handled, environments } = await countedHistory(seed);
      if (history.problems.length > 0) expect.fail(reportOf(history));
      expect(environments).toBeGreaterThan(1);
      const billedOut = messages.replies.billed + messages.posts.billed;
      // Frames that reach no function (signs of life), or whose function is killed, are billed, and not counted.
      expect(all.framesIn).toBeLessThanOrEqual(messages.in.billed);
      expect(all.framesIn).toBeGreaterThanOrEqual(handled);
      // So are posts whose fate is unknown.
      expect(all.framesOut).toBeLessThanOrEqual(billedOut);
      expect(all.framesOut).toBeGreaterThan(billedOut * 0.8);
      for (const field of USAGE_FIELDS) expect([field, written[field] <= all[field]]).toEqual([field, true]);
    },
    TIMEOUT_MS,
  );
});
