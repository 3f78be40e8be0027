import { matches } from '@apus/mqtt';
import fc from 'fast-check';
import { expect } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import type { Message, RetainedStore } from '../src/index.ts';
import { messageId, messageOf, NOW_MS, unique, upTo } from './support.ts';

const level = fc.constantFrom('a', 'b', 'c', '', '$s');
const topic = fc.array(level, { minLength: 1, maxLength: 3 }).map((levels) => levels.join('/') || 'a');
const topicFilter = fc
  .tuple(fc.array(fc.oneof(level, fc.constant('+')), { maxLength: 3 }), fc.boolean())
  .map(([levels, hash]) => [...levels, ...(hash ? ['#'] : [])].join('/') || '+');
const id = fc.integer({ min: 1, max: 9 }).map(messageId);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), topic, id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), topic, id }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('match' as const),
      topicFilter,
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

/** Random calls, compared with a map by topic. Nothing expires: when an expired message is removed is not promised. */
export async function retainedWalk(retained: RetainedStore): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const tenant = unique('walk');
      const kept = new Map<string, Message>();
      for (const each of steps) {
        if (each.do === 'match') {
          expect(await readAll(retained, tenant, each.topicFilter, each.limit)).toEqual(
            naive(kept, each.topicFilter),
          );
        } else if (each.do === 'put') {
          const message = messageOf({ topic: each.topic, id: each.id });
          await retained.put(tenant, message, upTo(1000));
          const existing = kept.get(each.topic);
          if (existing === undefined || existing.id < each.id) kept.set(each.topic, message);
        } else {
          await retained.delete(tenant, each.topic, each.id);
          const existing = kept.get(each.topic);
          if (existing !== undefined && existing.id <= each.id) kept.delete(each.topic);
        }
      }
    }),
    { numRuns: runs(100) },
  );
}

async function readAll(
  store: RetainedStore,
  tenant: string,
  filter: string,
  limit: number,
): Promise<string[]> {
  const lines: string[] = [];
  let from: string | undefined;
  do {
    const page = await store.match(tenant, filter, NOW_MS, from, {
      messages: limit,
      bytes: Number.POSITIVE_INFINITY,
    });
    lines.push(...page.messages.map((message) => `${message.topic} ${message.id}`));
    from = page.next;
  } while (from !== undefined);
  return lines.sort();
}

function naive(kept: ReadonlyMap<string, Message>, filter: string): string[] {
  return [...kept.values()]
    .filter((message) => matches(filter, message.topic))
    .map((message) => `${message.topic} ${message.id}`)
    .sort();
}
