import { inOneEvent } from '@apus/aws';
import {
  decodeRuleJob,
  queueCounts,
  type RulesRequest,
  SqsQueue,
  type SqsRecord,
  SqsVisibility,
} from '@apus/aws/lambda';
import type { PublishRequest } from '@apus/broker';
import { createSqs, ManualClock, type StandaloneSqs } from '@apus/emulated-aws';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Process, World } from '../../../../packages/aws/test/support/fan-out.ts';
import { DeadLetterQueue } from '../../src/lambda/dead-letter-queue.ts';
import { readDeployedRules } from '../../src/lambda/deployed-rules.ts';
import { createRulesHandler, type OpenRule, ruleKey } from '../../src/lambda/rules-handler.ts';
import { createRulesOperator } from '../../src/lambda/rules-operator.ts';
import { openTarget } from '../../src/rules/targets/open-target.ts';
import { type Receiver, receiver, status } from '../support/receiver.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const never = () => Promise.resolve();

let world: World;
let clock: ManualClock;
let sqs: StandaloneSqs;
let client: SQSClient;
let queueUrl: string;
let server: Receiver;
let door: Process;
let rules: ReadonlyMap<string, OpenRule>;
let letters: DeadLetterQueue;

beforeEach(async () => {
  world = await World.create();
  server = await receiver();
  clock = new ManualClock();
  sqs = createSqs({ clock, seed: 1 });
  client = new SQSClient(sqs.clientConfig());
  queueUrl = sqs.createQueue({ name: 'rules.fifo', fifo: true, visibilityTimeoutSeconds: 270 }).url;
  const lettersUrl = sqs.createQueue({ name: 'rule-letters' }).url;
  letters = new DeadLetterQueue({
    client,
    queueUrl: lettersUrl,
    queue: new SqsQueue({ client, queueUrl: lettersUrl, sleep: never }),
    visibility: new SqsVisibility({ client, queueUrl: lettersUrl, log: silent }),
    waitSeconds: 0,
  });
  const webhook = { url: server.url, allowAddresses: ['127.0.0.1'] };
  const given = [
    { name: 'hook', filter: 'a/#', attempts: 2, to: { webhook } },
    { name: 'again', filter: 'a/b', to: { publish: { topic: 'copy/{2}' } } },
  ];
  door = world.process({
    name: 'door',
    rules: {
      filters: given.map(({ name, filter }) => ({ tenant: 'default', name, filter })),
      queue: new SqsQueue({ client, queueUrl, sleep: never }),
      backlog: { isFull: async () => false },
    },
  });
  const context = {
    clock: world.time,
    publish: async (request: PublishRequest) => await publishInDoor(request),
  };
  const opened = readDeployedRules(given, 'rules', () => undefined).map(async (configuration) => {
    const target = await openTarget(configuration, configuration.to as never, context);
    return [ruleKey(configuration), { configuration, target }] as const;
  });
  rules = new Map(await Promise.all(opened));
});

async function publishInDoor(request: PublishRequest) {
  return await inOneEvent(door.cloud.environment, ({ broker }) => broker.publish(request));
}

const publish = async (topic: string, ...texts: readonly string[]) => {
  const connectionId = await world.connect();
  return await world.publishThrough(door, connectionId, texts, topic);
};

/**
 * One invocation of the function.
 * @param dies the function does its work, but SQS gets no answer
 */
async function poll(dies = false): Promise<number> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['All'],
    }),
  );
  const records = Messages.map(
    ({ MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} }): SqsRecord => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: Attributes,
    }),
  );
  const handler = createRulesHandler({
    rules: async () => rules,
    deadLetters: letters,
    visibility: new SqsVisibility({ client, queueUrl, log: silent }),
    clock: world.time,
    log: silent,
    count: () => {},
  });
  const { batchItemFailures } = await handler(
    { Records: records },
    { getRemainingTimeInMillis: () => 180_000 },
  );
  const left = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { messageId, receiptHandle } of records) {
    if (dies || left.has(messageId)) continue;
    await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: receiptHandle }));
  }
  return records.length;
}

/** Runs until nothing is left, however long that takes by the clock of SQS. */
async function drain(): Promise<void> {
  for (let idle = 0; idle < 300; idle += 1) {
    if ((await poll()) > 0) idle = 0;
    await clock.advance(1_000);
  }
}

const operate = (request: RulesRequest, remainingMs = 180_000) =>
  createRulesOperator({
    ...{ rules: async () => rules, deadLetters: letters },
    counts: () => queueCounts(client, queueUrl),
  })(request, {
    getRemainingTimeInMillis: () => remainingMs,
  });

describe('a rule of a deployment, over the queue', () => {
  it('sends acknowledged messages in the order of each topic, even if its endpoint fails in between', async () => {
    let requests = 0;
    server.answer = (_request, response) => {
      requests += 1;
      void response.writeHead(requests === 1 ? 503 : 200).end();
    };
    expect(await publish('a/1', '1', '2', '3')).toMatchObject([{ cmd: 'puback' }, {}, {}]);
    await publish('a/2', 'x', 'y');
    await drain();
    expect(server.payloads('a/1')).toEqual(['1', '2', '3']);
    expect(server.payloads('a/2')).toEqual(['x', 'y']);
  });

  it('repeats messages, and loses none, if the function dies before SQS knows', async () => {
    await publish('a/1', '1', '2');
    await poll(true);
    await clock.advance(271_000);
    await drain();
    expect([...new Set(server.payloads('a/1'))]).toEqual(['1', '2']);
    expect(server.payloads('a/1').length).toBe(4);
  });

  it('publishes to another topic of the broker', async () => {
    const subscriber = await world.connect();
    await world.frame(subscriber, {
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: 'copy/#', qos: 1 }],
    });
    await publish('a/b', 'x');
    await drain();
    expect(world.gateway.textsTo(subscriber)).toEqual(['x']);
  });
});

describe('dead letters of a deployment', () => {
  beforeEach(async () => {
    server.answer = status(400);
    await publish('a/1', '1', '2');
    await drain();
  });

  const idsOf = async () => {
    const answer = await operate({ action: 'dead', name: 'hook' });
    return ('letters' in answer ? (answer.letters as readonly { id: string }[]) : []).map(({ id }) => id);
  };

  it('can be read again and again', async () => {
    expect(await operate({ action: 'list' })).toMatchObject({
      rules: [
        { name: 'hook', type: 'webhook', dead_letters: 2 },
        { name: 'again', dead_letters: 0 },
      ],
      waiting: 0,
      inflight: 0,
    });
    const [id = '', other] = await idsOf();
    expect(await idsOf()).toEqual([id, other]);
    expect(await operate({ action: 'dead', name: 'hook', id })).toMatchObject({
      letters: [{ id, topic: 'a/1', attempts: 1, payload: Buffer.from('1').toString('base64') }],
      isAll: true,
      isCut: false,
    });
    expect(await operate({ action: 'dead', name: 'hook', from: 1, limit: 5 })).toMatchObject({
      letters: [{ id: other }],
      isCut: false,
    });
    expect(await operate({ action: 'dead', name: 'hook', limit: 1 })).toMatchObject({
      letters: [{ id }],
      isCut: true,
    });
  });

  it('are sent again in their order until one fails, or one by its id', async () => {
    expect(await operate({ action: 'send', name: 'hook' })).toMatchObject({
      sent: 0,
      failure: expect.stringContaining('answered 400'),
    });
    server.answer = status(200);
    const [id = ''] = await idsOf();
    expect(await operate({ action: 'send', name: 'hook', id })).toEqual({ sent: 1 });
    expect(await operate({ action: 'send', name: 'hook' })).toEqual({ sent: 1 });
    expect(server.payloads()).toEqual(['1', '2']);
    expect(await idsOf()).toEqual([]);
  });

  it('are not sent if the function might end before its target answers', async () => {
    server.answer = status(200);
    expect(await operate({ action: 'send', name: 'hook' }, 60_000)).toEqual({
      sent: 0,
      failure: 'no time is left: send again',
    });
    expect(await idsOf()).toHaveLength(2);
  });

  it('are discarded', async () => {
    const [id = ''] = await idsOf();
    expect(await operate({ action: 'discard', name: 'hook', id })).toEqual({ discarded: 1, isAll: true });
    expect(await operate({ action: 'discard', name: 'hook' })).toEqual({ discarded: 1, isAll: true });
    expect(await idsOf()).toEqual([]);
  });

  it.each([
    [{ action: 'dead', name: 'none' }, 'There is no rule "none".'],
    [{ action: 'dead', name: 'hook', id: 'none' }, 'There is no dead letter "none".'],
    [{ action: 'burn', name: 'hook' }, 'There is no action "burn": list, dead, send or discard.'],
  ])('asked wrongly are answered with a sentence (%#)', async (request, error) => {
    expect(await operate(request as RulesRequest)).toMatchObject({ error });
  });
});

it('the job of a message can contain characters that XML forbids', async () => {
  await publish('a/\ufffe', '\uffff');
  const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl: queueUrl }));
  expect(decodeRuleJob(Messages[0]?.Body ?? '')).toMatchObject({ message: { topic: 'a/\ufffe' } });
});
