import {
  addCounts,
  HOUR_MS,
  hourStartMs,
  noUsage,
  type ProcessUsageRow,
  type UsageCounts,
  type UsageRow,
} from '@apus/broker';
import { USAGE_SECONDS } from '../limits.ts';
import { usageKey, usagePartition } from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';

/*
 * A row of usage, in the partition of its day. `n` how much it has counted, which only grows; `d` JSON of its counts.
 */

const DAY_MS = 24 * HOUR_MS;

/** The usage that environments have counted: a row for each environment, tenant and hour. */
export class DynamoUsage {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   *     environment                        DynamoDB
   *     puts 10 messages
   *     (no answer comes)
   *     puts 25 messages                   25
   *                                        the first write arrives late: 10 is not above 25, and is refused
   */
  async put(environmentId: string, { tenant, hour, counts }: UsageRow): Promise<void> {
    const sum = Object.values(counts).reduce((all, count) => all + count, 0);
    const item = {
      ...marshalled(usageKey(tenant, hour, environmentId)),
      v: number(VERSION),
      t: number(this.#table.nowSeconds() + USAGE_SECONDS),
      n: number(sum),
      d: text(JSON.stringify(withoutZeros(counts))),
    };
    const options = { condition: 'attribute_not_exists(p) OR n < :n', values: { ':n': number(sum) } };
    await this.#table.put(item, options);
  }

  async *rows(from: string, to: string): AsyncGenerator<ProcessUsageRow> {
    const endMs = hourStartMs(to);
    for (let dayMs = floorToDay(hourStartMs(from)); dayMs < endMs; dayMs += DAY_MS) {
      const p = usagePartition(new Date(dayMs).toISOString());
      let after: string | undefined;
      do {
        const page = await this.#table.query({ p, from, to, after });
        for (const item of page.items) {
          const row = rowOf(item);
          if (row !== undefined) yield row;
        }
        after = page.next;
      } while (after !== undefined);
    }
  }
}

function rowOf(item: Item): ProcessUsageRow | undefined {
  const [hour, tenant, processId] = textOf(item, 's')?.split('\0') ?? [];
  const json = textOf(item, 'd');
  if (hour === undefined || tenant === undefined || processId === undefined) return undefined;
  if (json === undefined) return undefined;
  if (numberOf(item, 'v') !== VERSION) return undefined;
  const counts = noUsage();
  addCounts(counts, JSON.parse(json) as Partial<UsageCounts>);
  return { tenant, hour, processId, counts };
}

function withoutZeros(counts: Readonly<UsageCounts>): object {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

function floorToDay(atMs: number): number {
  return atMs - (atMs % DAY_MS);
}
