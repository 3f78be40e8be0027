import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encodeRuleJob, type SqsRecord } from '@apus/aws/lambda';
import { createRulesHandler, KafkaTarget, readDeployedRules, ruleKey } from '@apus/bridges/testing';
import type { Message } from '@apus/broker';
import { systemScheduler } from '@apus/node';
import { Admin, Consumer } from '@platformatic/kafka';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundle } from '../../infra/cli/bundle.ts';
import { needs } from '../support/skips.ts';
import { unique } from '../support/unique.ts';
import { kafkaOrSkip } from './kafka-or-skip.ts';

/** The rules function of a deployment, with the events that SQS makes, at a Kafka that is restarted. */

const kafka = await kafkaOrSkip();
const brokers = [kafka?.address ?? ''];
const client = { clientId: 'test', bootstrapBrokers: brokers, retries: 20, retryDelay: 300 };
const ARRIVAL = { timeout: 60_000, interval: 50 };
const CONTEXT = { getRemainingTimeInMillis: () => 180_000 };
const log = { debug() {}, info() {}, warn() {}, error() {} };

async function newTopic(): Promise<string> {
  const topic = unique('topic');
  const admin = new Admin(client);
  await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 });
  await admin.close();
  return topic;
}

/** Key and value of each record, from the beginning of the topic on. */
async function consumed(topic: string): Promise<readonly string[]> {
  const records: string[] = [];
  const consumer = new Consumer<Buffer, Buffer, Buffer, Buffer>({ ...client, groupId: unique('reader') });
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
  stream.on('data', ({ key, value }) => records.push(`${key} ${value}`));
  stream.on('error', () => {});
  onTestFinished(async () => {
    await Promise.resolve(consumer.close(true)).catch(() => {});
  });
  return records;
}

function functionOf(topic: string) {
  const to = { kafka: { brokers, topic, key: '{2}', waitSeconds: 2 } };
  const [configuration] = readDeployedRules(
    [{ name: 'out', filter: 'orders/+', to }],
    'rules',
    () => undefined,
  );
  if (configuration?.to.kind !== 'kafka') throw new Error('expected a rule to Kafka');
  const target = new KafkaTarget('out', configuration.to, { clock: systemScheduler, log });
  onTestFinished(() => target.stop());
  const handle = createRulesHandler({
    rules: async () => new Map([[ruleKey(configuration), { configuration, target }]]),
    deadLetters: { add: async () => {}, addUnreadable: async () => {} },
    visibility: { giveBack: async () => {} },
    clock: { now: Date.now },
    ...{ log, count() {} },
  });
  return async (numbers: readonly number[]): Promise<readonly string[]> => {
    const { batchItemFailures } = await handle({ Records: numbers.map(recordOf) }, CONTEXT);
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  };
}

function recordOf(number: number): SqsRecord {
  const message: Message = {
    ...{ id: `m-${number}`, topic: 'orders/k1', payload: Buffer.from(String(number)), qos: 1, retain: false },
    ...{ properties: {}, expiresAtMs: undefined, publisherKey: undefined },
  };
  const attributes = { ApproximateReceiveCount: '1', MessageGroupId: 'orders/k1' };
  const body = encodeRuleJob({ rule: { tenant: 'default', name: 'out' }, message });
  return { messageId: `m-${number}`, receiptHandle: 'r', body, attributes } as unknown as SqsRecord;
}

describe('a rule to Kafka in a deployment', needs('kafka', kafka), () => {
  test('writes messages in their order, keeps them while Kafka is down, and writes them when it is back', async () => {
    const topic = await newTopic();
    const send = functionOf(topic);
    expect(await send([1, 2, 3])).toEqual([]);
    await kafka?.kill();
    // The messages stay in the queue of the rules, and the queue delivers them again.
    expect(await send([4, 5])).toEqual(['m-4', 'm-5']);
    await kafka?.start();
    await expect.poll(async () => await send([4, 5]), ARRIVAL).toEqual([]);
    expect(await send([6])).toEqual([]);
    const records = await consumed(topic);
    await expect.poll(() => records.at(-1), ARRIVAL).toBe('k1 6');
    // A call without an answer may have reached Kafka. The records are there at least once, and their first copies are
    // in order.
    expect([...new Set(records)]).toEqual([1, 2, 3, 4, 5, 6].map((number) => `k1 ${number}`));
  });

  test('works from the deployed file alone, with no library beside it', async () => {
    const topic = await newTopic();
    const folder = mkdtempSync(join(tmpdir(), 'apus-rules-kafka-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { code } = await bundle('rulesKafka');
    writeFileSync(join(folder, 'index.mjs'), code);
    writeFileSync(join(folder, 'event.json'), JSON.stringify({ Records: [recordOf(7), recordOf(8)] }));
    writeFileSync(join(folder, 'call.mjs'), CALL);
    const rules = [{ name: 'out', filter: 'orders/+', to: { kafka: { brokers, topic, key: '{2}' } } }];
    const env = { ...VARIABLES, APUS_RULES: JSON.stringify(rules) };
    const { stdout } = await promisify(execFile)(process.execPath, ['call.mjs'], { cwd: folder, env });
    expect(stdout).toContain('ANSWER {"batchItemFailures":[]}');
    const records = await consumed(topic);
    await expect.poll(() => records, ARRIVAL).toEqual(['k1 7', 'k1 8']);
  });
});

/** This handler does the part of Lambda. */
const CALL = `
import { readFileSync } from 'node:fs';
const { handler } = await import('./index.mjs');
const event = JSON.parse(readFileSync('event.json', 'utf8'));
const answer = await handler(event, { getRemainingTimeInMillis: () => 180000, awsRequestId: 'r' });
process.stdout.write('ANSWER ' + JSON.stringify(answer) + '\\n', () => process.exit(0));
`;

/** The function calls no service of AWS for these messages. */
const VARIABLES = {
  APUS_TABLE_NAME: 'table',
  APUS_SESSIONS_TABLE_NAME: 'sessions',
  APUS_FAN_OUT_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/fan-out.fifo',
  APUS_TIMER_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/timers',
  APUS_DEAD_LETTER_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/dead-letters',
  APUS_RULE_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/rules.fifo',
  APUS_MANAGEMENT_ENDPOINT: 'https://a.execute-api.us-east-1.amazonaws.com/mqtt',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 'a',
};
