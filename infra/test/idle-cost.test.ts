import { readFileSync } from 'node:fs';
import { METRICS } from '@apus/aws/lambda';
import { billOf, type Usage } from '@apus/cost';
import { describe, expect, it } from 'vitest';
import { synthBroker } from './support/synth.ts';

const GUIDE = readFileSync(new URL('../../docs/deploy-operations.md', import.meta.url), 'utf8');

/** As extensions/cost has it, for a mapping whose queue is empty. */
const POLLS_PER_MAPPING = 650_000;
/** Every ten minutes of thirty days; a second of 256 MB each. */
const SWEEPS = 6 * 24 * 30;

/** The sweep counts connections whether there are any or not; everything else is written when it happens. */
const WRITTEN_IDLE = [METRICS.connections];

const { template } = synthBroker();

function count(type: string): number {
  return Object.keys(template.findResources(type)).length;
}

/** An alarm on an expression is billed by the metrics in it. */
function alarmedMetrics(): number {
  return Object.values(template.findResources('AWS::CloudWatch::Alarm')).reduce((sum, { Properties }) => {
    const queries = (Properties.Metrics ?? [{ MetricStat: {} }]) as readonly {
      readonly MetricStat?: object;
    }[];
    return sum + queries.filter(({ MetricStat }) => MetricStat !== undefined).length;
  }, 0);
}

/** The use of a month without clients, by the rows of the guide. */
const ROWS: Readonly<Record<string, Partial<Usage>>> = {
  'the secret that signs tokens': { secretMonths: count('AWS::SecretsManager::Secret') },
  'two queues that are polled': { sqsStandardPolls: POLLS_PER_MAPPING, sqsFifoPolls: POLLS_PER_MAPPING },
  'twelve alarms': { alarmMonths: alarmedMetrics() },
  'one metric of its own': { metricMonths: WRITTEN_IDLE.length },
  'the dashboard': { dashboardMonths: count('AWS::CloudWatch::Dashboard') },
  'the sweep': { lambdaRequests: SWEEPS, lambdaGigabyteSeconds: SWEEPS / 4 },
};

function dollars(used: Partial<Usage>, freeTiers: boolean): string {
  return `$${billOf(used, { freeTiers }).usd.toFixed(2)}`;
}

/** The cells of the row that begins so. */
function row(title: string): readonly string[] {
  const line = GUIDE.split('\n').find((each) => each.startsWith(`| ${title}`)) ?? '';
  return line
    .split('|')
    .slice(2, 4)
    .map((cell) => cell.trim());
}

describe('the cost of an idle broker, as in docs/deploy-operations.md', () => {
  it.each(Object.entries(ROWS))('%s', (title, used) => {
    expect(row(title)).toEqual([dollars(used, false), dollars(used, true)]);
  });

  it('together', () => {
    const all = Object.assign({}, ...Object.values(ROWS)) as Partial<Usage>;
    expect(row('**together**')).toEqual([`**${dollars(all, false)}**`, `**${dollars(all, true)}**`]);
    expect(billOf(all, { freeTiers: true }).usd).toBeLessThan(1);
  });

  it('the rows for a broker in use', () => {
    const all = Object.keys(METRICS).length;
    const more = billOf({ metricMonths: all - WRITTEN_IDLE.length }).usd;
    expect(GUIDE).toContain(`In use there are ${all} metrics of its own, $${more.toFixed(2)} more`);
  });

  it('an idle broker has no other costs', () => {
    const idle = ['AWS::EC2', 'AWS::KMS', 'AWS::RDS', 'AWS::ElastiCache', 'AWS::Kinesis', 'AWS::Synthetics'];
    const { Resources } = template.toJSON() as {
      Resources: Record<string, { Type: string; Properties?: object }>;
    };
    for (const { Type, Properties } of Object.values(Resources)) {
      expect(idle.some((each) => Type.startsWith(each))).toBe(false);
      expect(Properties ?? {}).not.toHaveProperty('ProvisionedConcurrencyConfig');
      expect(Properties ?? {}).not.toHaveProperty('ProvisionedPollerConfig');
      expect(Properties ?? {}).not.toHaveProperty('ProvisionedThroughput');
    }
    expect(count('AWS::Lambda::EventSourceMapping')).toBe(2);
  });
});
