import { readFileSync } from 'node:fs';
import { needsWorkerd } from '@apus/cloudflare/testing';
import { estimate, type GivenWorkload, NO_TRAFFIC, OBJECT_BUDGETS, objectDoor, usdText } from '@apus/cost';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureObject } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { differences, type Row, readRows, usdOf, writtenRow } from './table.ts';

const page = readFileSync(new URL('../../../docs/costs.md', import.meta.url), 'utf8');

/** A thousand clients take seconds to connect: they are left to CI. */
const watched = OPERATIONS.filter(({ name }) => process.env.CI !== undefined || !name.includes('1,000'));

/** Ten seconds, on a machine that is not busy: client and object take turns some thousand times. */
const MEASURING_MS_MAX = 600_000;

describe('the bill of an operation at the object door', needsWorkerd, () => {
  let rows: readonly Row[] = [];
  beforeAll(async () => {
    rows = await measureObject(watched);
  }, MEASURING_MS_MAX);

  it.each(watched.map(({ name }) => name))('%s is what the table says', (name) => {
    const measured = rows.filter((row) => row.name === name);
    expect(measured).toHaveLength(1);
    expect(measured.flatMap(differences), 'if it is meant: npm run bench:object -- --write').toEqual([]);
  });
});

describe('the table of loadtest/results/object-operations.md', () => {
  it('has the dollars of its counts', () => {
    expect(readRows().map(({ name }) => name)).toEqual(OPERATIONS.map(({ name }) => name));
    for (const { name, deliveries } of OPERATIONS) {
      const { counted, usd } = writtenRow(name);
      expect([name, usd]).toEqual([name, usdOf(counted, deliveries).toFixed(4)]);
    }
  });

  it('says that no timer keeps an object awake after an event', () => {
    for (const { name, counted } of readRows()) expect([name, counted.awakeMs]).toEqual([name, 0]);
  });

  it('has the dollars that docs/costs.md repeats', () => {
    const [, table = ''] = /## The object door\n(.*?)\n## /s.exec(page) ?? [];
    const usd = (name: string) => writtenRow(name).usd;
    const publishes = [0, 1, 2].map((qos) => usd(`PUBLISH QoS ${qos} to 1`));
    const lines = [
      [usd('CONNECT'), usd('PINGREQ')],
      publishes,
      [usd('PUBLISH QoS 1 to 10'), usd('PUBLISH QoS 1 to 1,000')],
      [usd('PUBLISH QoS 1 to 1, kept'), usd('PUBLISH QoS 1 to 1, kept, away')],
      [usd('PUBLISH QoS 1 to 1, topic of a stream'), usd('a member enters a room')],
    ];
    const written = [...table.matchAll(/^\| [A-Z].* \| ([\d.; ]+) \|$/gm)].map(([, cell = '']) =>
      cell.split('; '),
    );
    expect(written).toEqual(lines);
    expect(usd('SUBSCRIBE')).toBe(usd('PINGREQ'));
    expect(usd('DISCONNECT')).toBe(usd('PINGREQ'));
  });

  it('has the counts that the estimate uses', () => {
    const budgets = OBJECT_BUDGETS;
    for (const qos of [0, 1, 2] as const) {
      const { counted } = writtenRow(`PUBLISH QoS ${qos} to 10`);
      expect(counted.messages).toBe(budgets.messagesPerPublish[qos] + 10 * budgets.messagesPerDelivery[qos]);
      expect(counted.rowsWritten).toBe(0);
    }
    for (const qos of [1, 2] as const) {
      const perDelivery = budgets.rowsPerKeptDelivery[qos];
      expect(writtenRow(`PUBLISH QoS ${qos} to 1, kept`).counted.rowsWritten).toBe(perDelivery);
      expect(writtenRow(`PUBLISH QoS ${qos} to 10, kept`).counted.rowsWritten).toBe(
        10 * perDelivery + budgets.rowsPerSharedMessage,
      );
    }
    const kept = ['CONNECT, kept, session continues', 'DISCONNECT, kept'].map(
      (name) => writtenRow(name).counted.rowsWritten,
    );
    expect(kept.reduce((sum, rows) => sum + rows, 0)).toBe(budgets.rowsPerKeptConnection);
    const streamed = writtenRow('PUBLISH QoS 1 to 1, topic of a stream').counted;
    expect(streamed.rowsWritten).toBe(budgets.rowsPerStreamedMessage);
    expect(writtenRow('an hour of 20 idle clients').counted.alarmsSet).toBe(budgets.alarmsPerHour);
    const visit = writtenRow('a visit of three minutes to a hub without others').counted;
    expect(visit.alarmsSet).toBeLessThanOrEqual(budgets.alarmsPerVisit + budgets.alarmsPerHour / 20);
    expect(writtenRow('an hour of 20 idle clients').counted.rowsWritten).toBe(budgets.usageRowsPerHour);
    expect(visit.rowsWritten).toBe(budgets.usageRowsPerVisit);
    expect(writtenRow('an hour without clients').counted).toEqual(
      expect.objectContaining({ alarms: 0, alarmsSet: 0, requests: 0, rowsWritten: 0 }),
    );
  });
});

describe('a month at the object door, with nothing included', () => {
  const usd = (given: GivenWorkload) => objectDoor(estimate(given).traffic).marginalUsd;
  const perMillion = (given: GivenWorkload) => {
    const { publishes, deliveries } = estimate(given).traffic;
    const silent = usd({ ...given, publishesPerHour: 0 });
    return ((usd(given) - silent) * 1_000_000) / Math.max(publishes, deliveries);
  };

  it('of a thousand idle clients is $0.70 at most, $0.25 beyond the plan, and what docs/costs.md says', () => {
    const dollars = usd({ clients: 1_000 });
    expect(dollars).toBeLessThanOrEqual(0.7);
    const { bill } = objectDoor(estimate({ clients: 1_000 }).traffic);
    expect(bill.usd).toBeLessThanOrEqual(5.25);
    expect(page).toContain(`A thousand idle clients are ${usdText(dollars)} a month`);
    expect(page).toContain(`what the plan of $5 includes but for ${usdText(bill.usd - 5)}.`);
  });

  it('is $0.05 a million at most for messages at QoS 1 between sessions that end with their connection', () => {
    const given = { clients: 1_000, publishesPerHour: 60, qos: 1 };
    expect(perMillion(given)).toBeLessThanOrEqual(0.05);
    expect(perMillion(given)).toBeCloseTo(Number(writtenRow('PUBLISH QoS 1 to 1').usd), 3);
  });

  it('is $0.01 a million deliveries at most for messages at QoS 1 to a thousand', () => {
    const given = { clients: 1_000, publishesPerHour: 60, publisherShare: 0.001, fanOut: 1_000, qos: 1 };
    expect(perMillion(given)).toBeLessThanOrEqual(0.01);
    expect(perMillion(given)).toBeCloseTo(Number(writtenRow('PUBLISH QoS 1 to 1,000').usd), 4);
  });

  it('is nothing without clients, and the Free plan takes it', () => {
    const { marginalUsd, isFree } = objectDoor(NO_TRAFFIC);
    expect([marginalUsd, isFree]).toEqual([0, true]);
  });
});
