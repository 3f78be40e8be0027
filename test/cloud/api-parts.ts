import {
  type ApiFunctionOptions,
  CloudWatchMetrics,
  MonthCounters,
  SqsQueue,
  SqsVisibility,
} from '@apus/aws/lambda';
import { createRulesOperator, DeadLetterQueue, readDeployedRules, ruleKey } from '@apus/bridges/testing';
import type { Message } from '@apus/broker';
import { createSqs, ManualClock } from '@apus/emulated-aws';
import { readTopics } from '@apus/topics';
import { SQSClient } from '@aws-sdk/client-sqs';

/** Further parts of the function of operators. */
export type ApiParts = Partial<
  Pick<ApiFunctionOptions, 'rules' | 'counters' | 'described' | 'scan' | 'breaker' | 'bridges' | 'clock'>
>;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The function of rules, with its own queues. The test decides which messages its target takes. */
export async function rulesBeside(tenants: readonly string[], letters: readonly string[]) {
  const sqs = createSqs({ clock: new ManualClock(), seed: 1 });
  const client = new SQSClient(sqs.clientConfig());
  const { url: queueUrl } = sqs.createQueue({ name: 'rule-letters' });
  const deadLetters = new DeadLetterQueue({
    ...{ client, queueUrl, waitSeconds: 0 },
    queue: new SqsQueue({ client, queueUrl, sleep: async () => {} }),
    visibility: new SqsVisibility({ client, queueUrl, log: silent }),
  });
  const to = { webhook: { url: 'https://example.com/' } };
  const rule = { name: 'hot', filter: 'sensors/#', when: 'qos > 0.0', to };
  const configurations = tenants.flatMap((tenant) =>
    readDeployedRules([{ ...rule, tenant }], 'rules', () => undefined),
  );
  const target = {
    ...{ type: 'webhook', remote: 'https://example.com/', takes: false, stop: async () => {} },
    batch: { messagesMax: 1, bytesMax: 1_000_000, isPartial: false },
    async send(messages: readonly Message[]) {
      return target.takes ? undefined : { messages, error: 'answered 503', isPermanent: false };
    },
  };
  for (const tenant of tenants)
    await deadLetters.add(
      letters.map((id, index) => ({
        ...{ rule: { tenant, name: 'hot' }, message: messageOf(id), error: 'answered 400', attempts: 8 },
        failedAtMs: Date.UTC(2026, 10, 27) + index,
      })),
    );
  const operate = createRulesOperator({
    rules: async () =>
      new Map(configurations.map((each) => [ruleKey(each), { configuration: each, target }])),
    deadLetters,
    counts: async () => ({ waiting: 3, inflight: 1 }),
  });
  const filters = tenants.map((tenant) => ({ tenant, name: 'hot', filter: 'sensors/#' }));
  return {
    target,
    rules: {
      filters,
      // Serialized, as over the network.
      ask: async (request: object) =>
        JSON.parse(
          JSON.stringify(await operate(request as never, { getRemainingTimeInMillis: () => 180_000 })),
        ),
    },
  };
}

function messageOf(id: string): Message {
  return {
    ...{ id, topic: 'sensors/a', qos: 1, retain: false, payload: Buffer.from(`of ${id}`) },
    properties: { userProperties: [['a', 'b']] },
  } as unknown as Message;
}

/** CloudWatch with one value in each period of each metric. @param fails it does not answer */
export function countersOver(nowMs: number, value: number, fails = false): MonthCounters {
  const client = {
    send: async ({ input }: { input: { MetricDataQueries: { Id: string }[]; StartTime: Date } }) => {
      if (fails) throw new Error('Rate exceeded');
      const at = { Timestamps: [input.StartTime], Values: [value] };
      return { MetricDataResults: input.MetricDataQueries.map(({ Id }) => ({ Id, ...at })) };
    },
  };
  const metrics = new CloudWatchMetrics(client as never, 'Apus');
  return new MonthCounters(metrics, { now: () => nowMs }, ['MessagesIn', 'MessagesOut']);
}

/** Topics of all tenants but one that knows fewer. */
export function describedFor(tenants: readonly string[]): NonNullable<ApiParts['described']> {
  const given = { topics: [{ topic: 'sensors/{id}', publish: 'Sensors', tenants }] };
  return {
    topics: readTopics(given),
    server: { name: 'gateway', url: 'wss://api.example.com/mqtt', door: 'gateway', isOpen: false },
  };
}

/** The stage of a deployment, and its message counts, set by a test. */
export class FakeStage {
  framesPerSecond = 500;
  updatedAtMs = 0;
  /** API Gateway does not answer. */
  isSilent = false;
  lastMinute: { readonly atMs: number; readonly value: number } | undefined;
  /** Times that API Gateway was asked. */
  looks = 0;

  breaker(settings: object = {}): NonNullable<ApiParts['breaker']> {
    return {
      settings: {
        ...{ apiId: 'a1b2c3', stageName: 'mqtt', framesPerSecond: 500, trippedFramesPerSecond: 1 },
        ...{ messagesPerMinuteMax: 100_000, resetMinutes: 20, ...settings },
      },
      messages: { lastMinute: async () => this.lastMinute },
      readStage: async () => {
        this.looks += 1;
        if (this.isSilent) throw new Error('API Gateway answered 429: slow down');
        return { framesPerSecond: this.framesPerSecond, updatedAtMs: this.updatedAtMs };
      },
    };
  }
}

/** A bridge of each kind for each tenant. */
export function bridgesOf(tenants: readonly string[]): NonNullable<ApiParts['bridges']> {
  return tenants.flatMap((tenant) => [
    { tenant, name: 'orders', type: 'kafka', remote: 'b-1.example:9096', group: 'orders' },
    { tenant, name: 'things', type: 'iot-core', remote: 'sensors/#' },
  ]);
}
