import { noUsage, type UsageCounts, type UsageRow } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { unique } from '../support/client.ts';
import { withService } from '../support/stores.ts';

function row(tenant: string, hour: string, counts: Partial<UsageCounts>): UsageRow {
  return { tenant, hour, counts: { ...noUsage(), ...counts } };
}

await withService((service) => {
  describe('usage', () => {
    const { usage } = service.make();

    async function rowsOf(tenant: string, from: string, to: string): Promise<readonly UsageRow[]> {
      const rows: UsageRow[] = [];
      for await (const each of usage.rows(from, to)) if (each.tenant === tenant) rows.push(each);
      return rows;
    }

    it('has a row for each environment, tenant and hour, from one hour to another', async () => {
      const tenant = unique('tenant');
      for (const hour of ['2026-01-31T22', '2026-01-31T23', '2026-02-01T00', '2026-02-01T01'])
        await usage.put('a', row(tenant, hour, { messagesIn: 1 }));
      await usage.put('b', row(tenant, '2026-02-01T00', { messagesIn: 5 }));
      await usage.put('a', row(unique('other'), '2026-02-01T00', { messagesIn: 7 }));
      const rows = await rowsOf(tenant, '2026-01-31T23', '2026-02-01T01');
      expect(rows.map(({ hour, counts }) => [hour, counts.messagesIn])).toEqual([
        ['2026-01-31T23', 1],
        ['2026-02-01T00', 1],
        ['2026-02-01T00', 5],
      ]);
      expect(rows[0]?.counts).toEqual({ ...noUsage(), messagesIn: 1 });
    });

    it('replaces the row of an environment, and counts no write twice', async () => {
      const tenant = unique('tenant');
      const counted = row(tenant, '2026-01-01T00', { framesIn: 3, bytesOut: 100 });
      await usage.put('a', counted);
      await usage.put('a', counted);
      await usage.put('a', row(tenant, '2026-01-01T00', { framesIn: 4, bytesOut: 120 }));
      expect(await rowsOf(tenant, '2026-01-01T00', '2026-01-01T01')).toMatchObject([
        { counts: { framesIn: 4, bytesOut: 120 } },
      ]);
    });

    it('keeps a row from an earlier write of its environment that comes late', async () => {
      const tenant = unique('tenant');
      await usage.put('a', row(tenant, '2026-01-01T00', { framesIn: 9 }));
      await usage.put('a', row(tenant, '2026-01-01T00', { framesIn: 2 }));
      expect(await rowsOf(tenant, '2026-01-01T00', '2026-01-01T01')).toMatchObject([
        { counts: { framesIn: 9 } },
      ]);
    });

    it('costs a write unit for each row', async () => {
      const stores = service.make();
      await stores.usage.put('an-environment', row(unique('tenant'), '2026-01-01T00', fullCounts()));
      expect(stores.meter.units.writes).toBe(1);
    });
  });
});

function fullCounts(): UsageCounts {
  return Object.fromEntries(Object.keys(noUsage()).map((name) => [name, 1e15])) as unknown as UsageCounts;
}
