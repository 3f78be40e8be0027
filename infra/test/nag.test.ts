import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { App, Stack, Validations } from 'aws-cdk-lib/core';
import {
  AwsSolutionsChecks,
  HIPAASecurityChecks,
  type NagPack,
  NIST80053R5Checks,
  PCIDSS321Checks,
  ServerlessChecks,
} from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { ApusStack } from '../lib/apus-stack.ts';
import type { ApusBrokerProps } from '../lib/props.ts';
import { newOutdir, testContext } from './support/synth.ts';

/** The message of the synthesis that a pack of rules refuses; undefined when it has nothing to say. */
function findingsOf(makePack: (app: App) => NagPack, fill: (app: App) => void): string | undefined {
  const app = new App({ context: testContext(), outdir: newOutdir() });
  fill(app);
  Validations.of(app).addPlugins(makePack(app));
  try {
    app.synth();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const KEY_ARN = 'arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000';

const PACKS: readonly [string, (app: App) => NagPack][] = [
  ['AWS Solutions', (app) => new AwsSolutionsChecks(app)],
  ['Serverless', (app) => new ServerlessChecks(app)],
];

it.each(PACKS)('%s finds nothing that is not acknowledged with a reason', (_, makePack) => {
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus'))).toBeUndefined();
});

it.each(PACKS)('%s finds nothing where everything is switched on', (_, makePack) => {
  const broker: ApusBrokerProps = {
    accessLogs: true,
    tracing: true,
    table: { pointInTimeRecovery: true },
    rotateTokenSecretDays: 30,
    usage: true,
    usageExport: 'csv',
  };
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

it.each(
  PACKS.flatMap(([name, makePack]) =>
    (['iam', 'keys'] as const).map((how) => [name, how, makePack] as const),
  ),
)('%s finds nothing in the endpoint of backends with %s', (_, httpPublish, makePack) => {
  const broker: ApusBrokerProps = { httpPublish };
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

it.each(
  PACKS.flatMap(([name, makePack]) =>
    (['iam', { keysSha256: ['0'.repeat(64)] }] as const).map(
      (how) => [name, typeof how === 'string' ? how : 'keys', how, makePack] as const,
    ),
  ),
)('%s finds nothing in the API of operators with %s', (_, _how, httpApi, makePack) => {
  const broker: ApusBrokerProps = { httpApi };
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

/** Packs that a company is audited by. */
const AUDITS: readonly [string, (app: App) => NagPack][] = [
  ['NIST 800-53 R5', (app) => new NIST80053R5Checks(app)],
  ['HIPAA Security', (app) => new HIPAASecurityChecks(app)],
  ['PCI DSS 3.2.1', (app) => new PCIDSS321Checks(app)],
];
const KAFKA = [
  {
    name: 'market',
    kafka: { aws: { clusterArn: 'arn:aws:kafka:eu-west-1:123456789012:cluster/market/0a1b-2' } },
    in: [{ topic: 'prices', to: 'prices/{key}' }],
  },
];

const IOT_CORE = [{ name: 'things', iotCore: {}, in: [{ filter: 'things/#' }] }];

const RULES = [
  {
    name: 'hot',
    filter: 'sensors/#',
    to: { sqs: { queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/hot' } },
  },
  {
    name: 'things',
    filter: 'things/+/set',
    to: {
      iotCore: { endpoint: 'a1b2c3d4e5f6g7-ats.iot.eu-west-1.amazonaws.com', topic: '{topic}', retain: true },
    },
  },
];

it.each(PACKS)('%s finds nothing in bridges from Kafka and AWS IoT Core, and in rules', (_, makePack) => {
  const broker: ApusBrokerProps = { kafka: KAFKA, iotCore: IOT_CORE, rules: RULES };
  expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

const STREAMS = [{ name: 'chat', topicFilter: 'chat/#' }];

describe.each([...PACKS, ...AUDITS])('with compliance %s finds nothing', (_, makePack) => {
  it.each<[string, (stack: Stack) => ApusBrokerProps]>([
    ['in the broker as it is', () => ({})],
    [
      'where everything is switched on',
      () => ({
        accessLogs: true,
        tracing: true,
        streams: STREAMS,
        kafka: KAFKA,
        iotCore: IOT_CORE,
        rules: RULES,
        httpPublish: 'keys',
        httpApi: { keysSha256: ['0'.repeat(64)] },
        rollbackOnAlarm: true,
        rotateTokenSecretDays: 30,
        usage: true,
        usageExport: 'csv',
        topics: { topics: [{ topic: 'a', checkPayload: true, payload: { type: 'number' } }] },
      }),
    ],
    [
      'with a key of the owner, adopted tables, backends that sign, and no alarms',
      (stack) => ({
        encryptionKey: Key.fromKeyArn(stack, 'Own', KEY_ARN),
        table: { adopt: { tableName: 'm', sessionsTableName: 's' } },
        streams: STREAMS,
        httpPublish: 'iam',
        alarms: false,
      }),
    ],
  ])('%s', (_what, propsOf) => {
    const broker = (stack: Stack): ApusBrokerProps => ({ compliance: true, ...propsOf(stack) });
    expect(findingsOf(makePack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
  });
});

it.each(AUDITS)(
  '%s has findings without compliance: nothing is acknowledged that it mends',
  (_, makePack) => {
    const found = findingsOf(makePack, (app) => new ApusStack(app, 'Apus'));
    expect(found).toContain('CloudWatchLogGroupEncrypted');
    expect(found).toContain('SNSEncryptedKMS');
  },
);

it.each([...PACKS, ...AUDITS])('%s is awake', (_, makePack) => {
  const fill = (app: App) => {
    const stack = new Stack(app, 'Other');
    new Queue(stack, 'Queue');
    new Topic(stack, 'Topic');
  };
  expect(findingsOf(makePack, fill)).toMatch(/Other\/(Queue|Topic)\/Resource/);
});
