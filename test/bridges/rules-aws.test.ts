import { api, clientFor, ruledNode, ruleOf } from '@apus/bridges/testing';
import type { RunningNode } from '@apus/node';
import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, test, vi } from 'vitest';
import { ministackOrSkip } from '../support/ministack-or-skip.ts';
import { needs } from '../support/skips.ts';

const REGION = 'eu-west-1';
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
for (const [name, value] of Object.entries(CREDENTIALS)) vi.stubEnv(name, value);

const ministack = await ministackOrSkip('sqs,events,lambda');

interface Arrived {
  readonly topic: string;
  readonly payload: string;
}

describe('a rule to AWS (MiniStack)', needs('python', ministack), () => {
  const place = { region: REGION, endpoint: ministack?.endpoint ?? '' };
  const sqs = new SQSClient(place);

  async function queue(QueueName: string, Attributes: Record<string, string> = {}): Promise<string> {
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    return QueueUrl;
  }

  async function take(QueueUrl: string, bodies: string[]): Promise<string[]> {
    const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 600 });
    const { Messages = [] } = await sqs.send(command);
    bodies.push(...Messages.map(({ Body = '' }) => Body));
    return bodies;
  }

  async function publish(node: RunningNode, payloads: readonly string[]): Promise<void> {
    const client = await clientFor(node.url);
    for (const payload of payloads) await client.publishAsync('a/b', payload, { qos: 1 });
  }

  test('puts messages into a queue of SQS', async () => {
    const queueUrl = await queue('plain');
    const node = await ruledNode([{ filter: 'a/#', to: { sqs: { queueUrl, ...place } } }]);
    await publish(node, ['1', '2', '3']);
    const bodies: string[] = [];
    await expect.poll(async () => (await take(queueUrl, bodies)).length, { timeout: 20_000 }).toBe(3);
    const arrived = bodies.map((body) => JSON.parse(body) as Arrived);
    expect(arrived.map(({ topic, payload }) => `${topic} ${payload}`).sort()).toEqual([
      ...['a/b 1', 'a/b 2', 'a/b 3'],
    ]);
  });

  test('puts messages into a FIFO queue, those of a topic in order', async () => {
    const queueUrl = await queue('ordered.fifo', { FifoQueue: 'true' });
    const node = await ruledNode([{ filter: 'a/#', to: { sqs: { queueUrl, ...place } } }]);
    await publish(node, ['1', '2', '3']);
    await expect.poll(async () => (await ruleOf(node)).sent, { timeout: 20_000 }).toBe(3);
    const bodies = await take(queueUrl, []);
    expect(bodies.map((body) => (JSON.parse(body) as Arrived).payload)).toEqual(['1', '2', '3']);
  });

  test('puts events on a bus of EventBridge', async () => {
    const events = new EventBridgeClient(place);
    const queueUrl = await queue('events');
    const Arn = `arn:aws:sqs:${REGION}:000000000000:events`;
    await events.send(new CreateEventBusCommand({ Name: 'bus' }));
    const EventPattern = JSON.stringify({ source: ['plant'] });
    await events.send(new PutRuleCommand({ Name: 'all', EventBusName: 'bus', EventPattern }));
    await events.send(
      new PutTargetsCommand({ Rule: 'all', EventBusName: 'bus', Targets: [{ Id: 'q', Arn }] }),
    );
    const eventBridge = { bus: 'bus', source: 'plant', ...place };
    const node = await ruledNode([{ filter: 'a/#', to: { eventBridge } }]);
    await publish(node, ['1']);
    const bodies: string[] = [];
    await expect.poll(async () => (await take(queueUrl, bodies)).length, { timeout: 20_000 }).toBe(1);
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      ...{ source: 'plant', 'detail-type': 'MQTT message' },
      detail: { topic: 'a/b', payload: '1' },
    });
  });

  test('has dead letters with the reason of AWS for a queue or a function that does not exist', async () => {
    const queueUrl = `${place.endpoint}/000000000000/none`;
    const node = await ruledNode([
      { name: 'queue', filter: 'a/#', to: { sqs: { queueUrl, ...place } }, attempts: 1 },
      { name: 'function', filter: 'a/#', to: { lambda: { function: 'none', ...place } }, attempts: 1 },
    ]);
    await publish(node, ['1']);
    const errorOf = async (rule: string) => {
      const { body } = await api(node, `rules/${rule}/dead_letters`);
      return (body as { data: { error: string }[] }).data[0]?.error;
    };
    await expect
      .poll(() => errorOf('queue'), { timeout: 20_000 })
      .toMatch(/QueueDoesNotExist|NonExistentQueue/);
    await expect.poll(() => errorOf('function'), { timeout: 20_000 }).toMatch(/ResourceNotFound/);
  });
});
