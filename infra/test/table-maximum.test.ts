import { readFileSync } from 'node:fs';
import { billOf, type Usage } from '@apus/cost';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { ApusBrokerProps } from '../lib/props.ts';
import { tableMaximumOf } from '../lib/table-maximum.ts';
import { synthApp, synthBroker } from './support/synth.ts';

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');
const GUIDE = read('deploy-operations.md');
const COSTS = read('../loadtest/results/operations.md');
/** A broker has two tables with the same maximum. */
const TABLES = 2;
const SECONDS_PER_DAY = 24 * 60 * 60;
/** Units that an account allows each table, where the table itself has no maximum. */
const UNITS_QUOTA = 40_000;

/** The maximum of each table, as it stands in the template: it is the same. */
function maximumIn(props: ApusBrokerProps): object | undefined {
  const tables = Object.values(synthBroker(props).template.findResources('AWS::DynamoDB::Table'));
  const [one, other, ...more] = tables.map(({ Properties }) => Properties.OnDemandThroughput);
  expect([other, more]).toEqual([one, []]);
  return one;
}

/** Dollars for a day in which this many units are used in each second, by the price book. */
function dollarsPerDay(reads: number, writes: number): string {
  return dollarsOf({
    dynamodbReadUnits: reads * SECONDS_PER_DAY,
    dynamodbWriteUnits: writes * SECONDS_PER_DAY,
  });
}

/** Dollars for a day of requests that are refused within 2 ms: Lambda allows ten a second for each environment. */
function refusalsPerDay(environments: number): string {
  const requests = 10 * environments * SECONDS_PER_DAY;
  return dollarsOf({ lambdaRequests: requests, lambdaGigabyteSeconds: requests * 0.002 * 0.5 });
}

function dollarsOf(used: Partial<Usage>): string {
  return `$${Math.round(billOf(used).usd).toLocaleString('en-US')}`;
}

describe('the on-demand maximum of a table', () => {
  it('exists by default, and follows the throttles of frames and posts [SEC-COST-1]', () => {
    expect(maximumIn({})).toEqual({ MaxReadRequestUnits: 8_000, MaxWriteRequestUnits: 4_000 });
    const less = { throttle: { framesPerSecond: 50 }, fanOut: { maxPostsPerSecond: 100 } };
    expect(maximumIn(less)).toEqual({ MaxReadRequestUnits: 800, MaxWriteRequestUnits: 400 });
  });

  it('can be set by a prop or a flag; 0 lifts it', () => {
    const context = { maxReadRequestUnits: '700', maxWriteRequestUnits: '300' };
    synthApp(context).hasResourceProperties('AWS::DynamoDB::Table', {
      OnDemandThroughput: { MaxReadRequestUnits: 700, MaxWriteRequestUnits: 300 },
    });
    synthApp({ maxReadRequestUnits: '0', maxWriteRequestUnits: '0' }).hasResourceProperties(
      'AWS::DynamoDB::Table',
      { OnDemandThroughput: Match.absent() },
    );
    expect(tableMaximumOf({ table: { maxReadRequestUnits: 0 } })).toEqual({ maxWriteRequestUnits: 4_000 });
  });

  it('is never below the warm throughput', () => {
    expect(tableMaximumOf({ table: { warmWriteUnitsPerSecond: 10_000 } })).toEqual({
      maxReadRequestUnits: 30_000,
      maxWriteRequestUnits: 10_000,
    });
  });

  it('is left to the account’s quota if the throttles allow as much as that', () => {
    const throttle = { framesPerSecond: 10_000 };
    expect(tableMaximumOf({ throttle })).toEqual({});
    expect(tableMaximumOf({ throttle, table: { maxWriteRequestUnits: 50_000 } })).toEqual({
      maxWriteRequestUnits: 50_000,
    });
  });

  it('allows clients twice the most expensive frame that operations.md lists for one client that repeats one action', () => {
    const writesOf = (row: string) => {
      const line = COSTS.split('\n').find((each) => each.startsWith(`| ${row} |`)) ?? '';
      return Number(line.split('|')[5]);
    };
    const repeated = ['SUBSCRIBE, narrow filter', 'DISCONNECT, clean, one filter'].map(writesOf);
    expect(repeated).toEqual([2, 3]);
    const { maxWriteRequestUnits = 0 } = tableMaximumOf({ fanOut: { maxPostsPerSecond: 0 } });
    const unitsPerFrame = (TABLES * maxWriteRequestUnits) / 500;
    expect(unitsPerFrame).toBeGreaterThanOrEqual(2 * Math.max(...repeated));
    // The subscriber that widens a filter, once for each filter.
    expect(writesOf('SUBSCRIBE, filter with 12 subscribers')).toBeLessThanOrEqual(unitsPerFrame);
  });
});

describe('docs/deploy-operations.md', () => {
  it('says what a day at the maximum costs, and a day without one [SEC-COST-1]', () => {
    const { maxReadRequestUnits = 0, maxWriteRequestUnits = 0 } = tableMaximumOf({});
    expect(GUIDE).toContain(
      `| ${dollarsPerDay(TABLES * maxReadRequestUnits, TABLES * maxWriteRequestUnits)} a day |`,
    );
    expect(GUIDE).toContain(`| ${dollarsPerDay(TABLES * UNITS_QUOTA, TABLES * UNITS_QUOTA)} a day |`);
  });

  it('says what a day of refused requests costs, with concurrency reserved and without', () => {
    const [reserved, account] = [20, 1_000].map((environments) => refusalsPerDay(environments));
    expect(GUIDE).toContain(`| ${reserved} a day | ${account} a day |`);
  });
});
