import { readFileSync } from 'node:fs';
import { METRICS } from '@apus/aws/lambda';
import { Match } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { EVERY_ALARM, synthBroker } from './support/synth.ts';

const { template } = synthBroker();
/** With everything that is watched. */
const { template: whole } = synthBroker({
  httpPublish: 'keys',
  httpApi: { keysSha256: ['0'.repeat(64)] },
  alarms: { frameMilliseconds: 500, messagesDropped: 100, sweepMissing: true },
  rollbackOnAlarm: true,
});
const { template: everyAlarm } = synthBroker(EVERY_ALARM);
const RUNBOOK = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
/** CloudWatch's permanent free tier of each account. */
const FREE_DASHBOARD_METRICS = 50;

/** As GitHub makes them. */
function anchorsOf(markdown: string): readonly string[] {
  const titles = [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
  return titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Below a title, up to the next of its level. */
function sectionOf(markdown: string, anchor: string): string {
  const sections = markdown.split(/^## /m).slice(1);
  return sections.find((section) => anchorsOf(`## ${section}`)[0] === anchor) ?? '';
}

const alarmsOf = (from: typeof template) =>
  Object.values(from.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
const alarms = alarmsOf(template);

describe('alarms', () => {
  it('are twelve, each of one metric, as their price in docs/deploy-operations.md has it', () => {
    expect(alarms).toHaveLength(12);
    expect(alarms.filter(({ MetricName }) => typeof MetricName === 'string')).toHaveLength(12);
    expect(alarmsOf(whole)).toHaveLength(21);
  });

  it('go off at a flood of requests that the publish URL refuses, where there is one', () => {
    const refused = (from: typeof template) =>
      alarmsOf(from).filter(({ MetricName }) => MetricName === METRICS.publishesRefused);
    expect(refused(whole)).toMatchObject([{ Threshold: 600, EvaluationPeriods: 3 }]);
    expect(refused(template)).toEqual([]);
  });

  it('notify a topic when they go off, and when all is well again', () => {
    const topic = { Ref: expect.stringMatching(/^BrokerAlarmTopic/) };
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toContainEqual(topic);
      expect(OKActions).toEqual([topic]);
    }
  });

  it('are silent without data points, as while no client connects', () => {
    expect(alarms.map(({ TreatMissingData }) => TreatMissingData)).toEqual(alarms.map(() => 'notBreaching'));
  });

  it.each(alarmsOf(everyAlarm).map(({ AlarmDescription }) => [String(AlarmDescription)]))(
    'has a section in the runbook that says what it means, how to look and what to do: %s',
    (description) => {
      const anchor = /docs\/runbook\.md#([\w-]+)$/.exec(description)?.[1];
      const section = sectionOf(RUNBOOK, anchor ?? '');
      expect(section).toContain('**Means.**');
      expect(section).toContain('**Look.**');
      expect(section).toContain('**Do.**');
    },
  );

  it("send mail to the address that the owner names, through the owner's topic if there is one", () => {
    const { template: mailed } = synthBroker({ alarms: { email: 'ops@example.com' } });
    mailed.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    });
    const { template: own, broker } = synthBroker((stack) => ({
      alarms: { topic: new Topic(stack, 'Own') },
    }));
    own.resourceCountIs('AWS::SNS::Topic', 2);
    expect(broker.alarmTopic?.node.path).toBe('Test/Own');
  });

  it('let CloudWatch publish to both topics', () => {
    const allowed = Match.objectLike({
      Action: 'sns:Publish',
      Effect: 'Allow',
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
    template.resourcePropertiesCountIs(
      'AWS::SNS::TopicPolicy',
      { PolicyDocument: Match.objectLike({ Statement: Match.arrayWith([allowed]) }) },
      2,
    );
  });
});

interface Widget {
  readonly properties: {
    readonly title: string;
    readonly metrics: readonly (readonly unknown[])[];
  };
}

/** The dashboard's body; a reference is its logical id. */
function widgets(from = template): readonly Widget[] {
  const [dashboard] = Object.values(from.findResources('AWS::CloudWatch::Dashboard'));
  const parts = dashboard?.Properties.DashboardBody['Fn::Join'][1] as readonly (string | { Ref: string })[];
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : (part.Ref ?? 'ref'))).join(''))
    .widgets;
}

describe('the dashboard', () => {
  it('shows each metric that the functions write', () => {
    const shown = JSON.stringify(widgets());
    for (const name of Object.values(METRICS)) expect(shown).toContain(`"${name}"`);
  });

  it('shows no more metrics than a free dashboard may', () => {
    const metrics = widgets(whole).flatMap(({ properties }) => properties.metrics);
    expect(metrics.length).toBeGreaterThan(30);
    expect(metrics.length).toBeLessThanOrEqual(FREE_DASHBOARD_METRICS);
  });

  it('computes the dollars of an hour by the price book', () => {
    const widget = widgets(whole).find(({ properties }) => properties.title === 'Dollars an hour');
    const [options] = widget?.properties.metrics[0] ?? [];
    const { expression = '' } = options as { expression?: string };
    expect(evaluate(expression, { messages: 1_000_000 / 12 })).toBeCloseTo(1, 9);
    expect(evaluate(expression, { connections: 1_000_000 / 60 })).toBeCloseTo(0.25, 9);
    expect(evaluate(expression, { gatewayRequests: 1_000_000 / 12 })).toBeCloseTo(0.2, 9);
    expect(evaluate(expression, { gatewayMs: 2_000_000 / 12 })).toBeCloseTo(1_000 * 0.0000133334, 9);
    expect(evaluate(expression, { publishRequests: 1_000_000 / 12 })).toBeCloseTo(0.2, 9);
    for (const table of ['messages', 'sessions']) {
      expect(evaluate(expression, { [`${table}Reads`]: 1_000_000 / 12 })).toBeCloseTo(0.125, 9);
      expect(evaluate(expression, { [`${table}Writes`]: 1_000_000 / 12 })).toBeCloseTo(0.625, 9);
    }
    expect(evaluate(expression, { jobs: 1_000_000 / 12 })).toBeCloseTo(1.5, 9);
    expect(expression).not.toMatch(/\de-\d/);
  });

  it('does not exist when the owner does not want it', () => {
    synthBroker({ dashboard: false }).template.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
  });
});

/** A sum of products of numbers, with `/` and `FILL(name, …)`, as the expression is written. */
function evaluate(expression: string, values: Readonly<Record<string, number>>): number {
  return expression
    .replace(/FILL\((\w+), \w+\)/g, (_, name: string) => String(values[name] ?? 0))
    .split(' + ')
    .map(product)
    .reduce((sum, term) => sum + term, 0);
}

function product(term: string): number {
  const [first = '', ...rest] = term.split(/ (?=[*/] )/);
  return rest.reduce((value, factor) => {
    const number = Number(factor.slice(2));
    return factor.startsWith('*') ? value * number : value / number;
  }, Number(first));
}

describe('traces', () => {
  const functionsOf = (of: typeof template) =>
    Object.values(of.findResources('AWS::Lambda::Function')).map(({ Properties }) => Properties);

  it('are of every function, which may send them, where the owner asks for them', () => {
    const { template: traced } = synthBroker({ tracing: true });
    const broker = functionsOf(traced).filter(({ Environment }) => Environment !== undefined);
    expect(broker.length).toBeGreaterThanOrEqual(6);
    for (const { TracingConfig } of broker) expect(TracingConfig).toEqual({ Mode: 'Active' });
    const senders = Object.values(traced.findResources('AWS::IAM::Policy')).filter(({ Properties }) =>
      JSON.stringify(Properties).includes('xray:PutTraceSegments'),
    );
    expect(senders).toHaveLength(broker.length);
  });

  it('are off by default', () => {
    for (const { TracingConfig } of functionsOf(template)) expect(TracingConfig).toBeUndefined();
    expect(JSON.stringify(template.toJSON())).not.toContain('xray:');
  });
});
