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
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApusStack } from '../lib/apus-stack.ts';
import type { ApusBrokerProps } from '../lib/props.ts';
import { LEAN, newOutdir, testContext, withShortStacks } from './support/synth.ts';

// CDK's own rules are among those that find nothing: in this file also outside of CI.
beforeAll(() => void vi.stubEnv('CDK_VALIDATION', 'true'));
afterAll(() => void vi.unstubAllEnvs());

type Packs = (app: App) => readonly NagPack[];

/** The message of the synthesis that packs of rules refuse; undefined when they have nothing to say. */
function findingsOf(makePacks: Packs, fill: (app: App) => void): string | undefined {
  const app = new App({ ...LEAN, context: testContext(), outdir: newOutdir() });
  try {
    withShortStacks(() => {
      fill(app);
      Validations.of(app).addPlugins(...makePacks(app));
      app.synth();
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const KEY_ARN = 'arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000';

const usualPacks: Packs = (app) => [new AwsSolutionsChecks(app), new ServerlessChecks(app)];

it('finds nothing that is not acknowledged with a reason', () => {
  expect(findingsOf(usualPacks, (app) => new ApusStack(app, 'Apus'))).toBeUndefined();
});

it('finds nothing with every feature switched on', () => {
  const broker: ApusBrokerProps = {
    accessLogs: true,
    tracing: true,
    table: { pointInTimeRecovery: true },
    rotateTokenSecretDays: 30,
    usage: true,
    usageExport: 'csv',
  };
  expect(findingsOf(usualPacks, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

it.each(['iam', 'keys'] as const)('finds nothing in the endpoint of backends with %s', (httpPublish) => {
  const broker: ApusBrokerProps = { httpPublish };
  expect(findingsOf(usualPacks, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

it.each([
  ['iam', 'iam'],
  ['keys', { keysSha256: ['0'.repeat(64)] }],
] as const)('finds nothing in the API of operators with %s', (_, httpApi) => {
  const broker: ApusBrokerProps = { httpApi };
  expect(findingsOf(usualPacks, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

/** Packs that a company is audited by. */
const audits: Packs = (app) => [
  new NIST80053R5Checks(app),
  new HIPAASecurityChecks(app),
  new PCIDSS321Checks(app),
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

it('finds nothing in bridges from Kafka and AWS IoT Core, and in rules', () => {
  const broker: ApusBrokerProps = { kafka: KAFKA, iotCore: IOT_CORE, rules: RULES };
  expect(findingsOf(usualPacks, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
});

const STREAMS = [{ name: 'chat', topicFilter: 'chat/#' }];

const everyPack: Packs = (app) => [...usualPacks(app), ...audits(app)];

describe('with compliance no pack finds anything', () => {
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
    expect(findingsOf(everyPack, (app) => new ApusStack(app, 'Apus', { broker }))).toBeUndefined();
  });
});

it('audits have findings without compliance: nothing is acknowledged that it mends', () => {
  const found = findingsOf(audits, (app) => new ApusStack(app, 'Apus'));
  for (const pack of ['NIST.800.53.R5', 'HIPAA.Security', 'PCI.DSS.321']) {
    expect(found).toContain(`${pack}-CloudWatchLogGroupEncrypted`);
    expect(found).toContain(`${pack}-SNSEncryptedKMS`);
  }
});

it('each pack finds mistakes that were made for it', () => {
  const found = findingsOf(everyPack, (app) => {
    const stack = new Stack(app, 'Other');
    new Queue(stack, 'Queue');
    new Topic(stack, 'Topic');
  });
  expect(found).toMatch(/Other\/(Queue|Topic)\/Resource/);
  for (const pack of ['AwsSolutions', 'Serverless', 'NIST.800.53.R5', 'HIPAA.Security', 'PCI.DSS.321'])
    expect(found).toContain(`${pack}-`);
});
