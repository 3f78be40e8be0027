import { describe, expect, it } from 'vitest';
import { billOf, billOfItems, usage, usdPerMillion } from '../src/index.ts';

describe('a bill, by hand', () => {
  it('a million frames in and out, each handled in 25 ms at 512 MB', () => {
    const bill = billOf({
      gatewayMessagesIn: 1_000_000,
      gatewayMessagesOut: 1_000_000,
      lambdaRequests: 1_000_000,
      // 1,000,000 × 0.025 s × 0.5 GB
      lambdaGigabyteSeconds: 12_500,
    });
    // 1.00 + 1.00 + 0.20 + 12,500 × 0.0000133334
    expect(bill.usd).toBeCloseTo(2.3666675, 10);
    expect(bill.lines.map(({ label, usd }) => [label, Number(usd.toFixed(7))])).toEqual([
      ['Gateway messages in', 1],
      ['Gateway messages out', 1],
      ['Lambda requests', 0.2],
      ['Lambda GB-seconds', 0.1666675],
    ]);
  });

  it.each([
    ['connectionMinutes', 43_200_000, 10.8],
    ['dynamodbReadUnits', 8_000_000, 1],
    ['dynamodbWriteUnits', 1_600_000, 1],
    ['dynamodbStorageGigabyteMonths', 4, 1],
    ['sqsStandardRequests', 2_500_000, 1],
    ['sqsStandardPolls', 650_000, 0.26],
    ['sqsFifoRequests', 2_000_000, 1],
    ['sqsFifoPolls', 650_000, 0.325],
    ['schedulerInvocations', 1_000_000, 1],
    ['logBytes', 2_000_000_000, 1],
    ['dataTransferOutBytes', 100_000_000_000, 9],
    ['secretMonths', 2, 0.8],
    ['kmsKeyMonths', 1, 1],
    ['dashboardMonths', 1, 3],
    ['alarmMonths', 10, 1],
    ['metricMonths', 10, 3],
    ['metricsRead', 100_000, 1],
  ] as const)('%s: %i cost $%d', (name, quantity, usd) => {
    expect(billOf({ [name]: quantity }).usd).toBeCloseTo(usd, 10);
  });

  it('has a line for each thing that was used, the dearest first, and shares that make one', () => {
    const { lines } = billOf({ alarmMonths: 1, connectionMinutes: 4_000_000, gatewayMessagesIn: 1 });
    expect(lines.map(({ usage: name }) => name)).toEqual([
      'connectionMinutes',
      'alarmMonths',
      'gatewayMessagesIn',
    ]);
    expect(lines.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
  });

  it('is empty when nothing was used', () => {
    expect(billOf(usage())).toEqual({ lines: [], usd: 0 });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a quantity of %d', (quantity) => {
    expect(() => billOf({ lambdaRequests: quantity })).toThrow(/Lambda requests.*from 0 up/);
  });
});

describe('tiers', () => {
  it('messages of IoT Core have a second tier, beyond five billion', () => {
    const usdOfBillions = (billions: number) =>
      billOfItems([{ label: 'messages', price: 'iotMessage', quantity: billions * 1_000_000_000 }]).usd;
    expect([1, 5, 6].map(usdOfBillions)).toEqual([1_000, 1_000 + 4 * 800, 1_000 + 4 * 800 + 700]);
  });

  it('messages beyond a billion a month cost 0.80 a million, in and out counted together', () => {
    const bill = billOf({ gatewayMessagesIn: 500_000_000, gatewayMessagesOut: 1_500_000_000 });
    // 1,000 × 1.00 + 1,000 × 0.80
    expect(bill.usd).toBeCloseTo(1_800, 8);
    // Both directions pay the average: 1,800 / 2,000 M.
    expect(bill.lines.map(({ usd }) => usd)).toEqual([1_350, 450]);
  });

  it('the free tier is applied only when asked for', () => {
    const used = { lambdaRequests: 1_500_000, connectionMinutes: 750_000 };
    expect(billOf(used).usd).toBeCloseTo(0.3 + 0.1875, 10);
    expect(billOf(used, { freeTiers: true }).usd).toBeCloseTo(0.1, 10);
  });
});

describe('items of any price', () => {
  it('a month of the small machine and ten gigabytes out', () => {
    const { usd } = billOfItems([
      { label: 'plan', price: 'machine', quantity: 1 },
      { label: 'transfer', price: 'dataTransferOut', quantity: 10 },
    ]);
    expect(usd).toBeCloseTo(24.9, 10);
  });
});

describe('dollars per million deliveries', () => {
  it('are dollars divided by deliveries', () => expect(usdPerMillion(3, 2_000_000)).toBe(1.5));
  it('are no figure without a delivery', () => expect(usdPerMillion(3, 0)).toBeUndefined());
});
