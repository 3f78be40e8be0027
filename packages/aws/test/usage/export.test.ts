import { noUsage, type ProcessUsageRow } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { createUsageExport, type ExportFormat } from '../../src/usage/export/export-usage.ts';

const NOW_MS = Date.parse('2026-11-25T01:20:00Z');
const YESTERDAY = 'usage/day=2026-11-24/usage.csv';

function row(tenant: string, hour: string, messagesIn: number, processId = 'a'): ProcessUsageRow {
  return { tenant, hour, processId, counts: { ...noUsage(), messagesIn } };
}

/** A bucket in memory, and the rows of some days. */
function world(rows: readonly ProcessUsageRow[], format: ExportFormat = 'csv') {
  const files = new Map<string, string>();
  let puts = 0;
  let isDown = false;
  const run = createUsageExport({
    store: {
      put: async () => {},
      async *rows(from, to) {
        yield* rows.filter(({ hour }) => hour >= from && hour < to);
      },
    },
    bucket: {
      has: async (name) => files.has(name),
      put: async (name, body) => {
        if (isDown) throw new Error('S3 answered 503');
        puts += 1;
        files.set(name, body);
      },
    },
    format,
    clock: { now: () => NOW_MS },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  return {
    files,
    run,
    puts: () => puts,
    setDown: (down: boolean) => {
      isDown = down;
    },
  };
}

const ROWS = [
  row('acme', '2026-11-24T00', 3),
  row('acme', '2026-11-24T00', 4, 'b'),
  row('acme', '2026-11-24T23', 5),
  row('globex', '2026-11-24T23', 1),
  row('acme', '2026-11-25T00', 100),
  row('acme', '2026-11-20T10', 7),
];

describe('the export of usage', () => {
  it('writes yesterday, a line for each tenant and hour, and nothing of today', async () => {
    const { run, files } = world(ROWS);
    await run({});
    const [head, ...lines] = (files.get(YESTERDAY) ?? '').trimEnd().split('\r\n');
    expect(head).toMatch(/^tenant,time,connectionMs,messagesIn,/);
    expect(lines.map((line) => line.split(',').slice(0, 4))).toEqual([
      ['acme', '2026-11-24T00', '0', '7'],
      ['acme', '2026-11-24T23', '0', '5'],
      ['globex', '2026-11-24T23', '0', '1'],
    ]);
  });

  it('writes the same file when it runs again, and days before only where they are missing', async () => {
    const { run, files, puts } = world(ROWS);
    expect((await run({})).written).toHaveLength(7);
    const before = new Map(files);
    expect((await run({})).written).toEqual([YESTERDAY]);
    expect(files).toEqual(before);
    files.delete('usage/day=2026-11-20/usage.csv');
    expect((await run({})).written).toEqual(['usage/day=2026-11-20/usage.csv', YESTERDAY]);
    expect(files).toEqual(before);
    expect(puts()).toBe(10);
  });

  it('has JSON lines where they are asked for', async () => {
    const { run, files } = world(ROWS, 'jsonl');
    await run(undefined);
    const text = files.get('usage/day=2026-11-20/usage.jsonl') ?? '';
    expect(
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ tenant: 'acme', time: '2026-11-20T10', messagesIn: 7 }]);
  });

  it('fails where the bucket takes no file, so that it is called again, and goes on then', async () => {
    const { run, files, setDown } = world(ROWS);
    setDown(true);
    await expect(run({})).rejects.toThrow('503');
    setDown(false);
    await run({});
    expect(files.size).toBe(7);
  });

  it('writes the day that an owner names, and refuses text that is no day', async () => {
    const { run, files } = world(ROWS);
    expect(await run({ day: '2026-11-20' })).toEqual({ written: ['usage/day=2026-11-20/usage.csv'] });
    expect(files.size).toBe(1);
    for (const day of ['2026-13-01', '../../etc', '2026-11-20T10', 7, null])
      await expect(run({ day })).rejects.toThrow(/day in UTC/);
  });
});
