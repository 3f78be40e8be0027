import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  InvalidAttributeName,
  MessageNotInflight,
  OverLimit,
  PurgeQueueCommand,
  PurgeQueueInProgress,
  QueueDoesNotExist,
  QueueNameExists,
  ReceiptHandleIsInvalid,
  RequestThrottled,
  type SendMessageCommandInput,
  TagQueueCommand,
  UnsupportedOperation,
} from '@aws-sdk/client-sqs';
import { describe, expect, test } from 'vitest';
import { createSqs } from '../../src/index.ts';
import { bodies, nameOf } from './bench.ts';
import { startSqs } from './support.ts';

const HOUR_SECONDS = 3_600;

const digits = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

describe('order', () => {
  const arrivals = async (seed: number): Promise<unknown[]> => {
    const { bench, create } = startSqs({ seed });
    const url = create();
    for (const body of digits(10)) await bench.send(url, body);
    return bodies(await bench.receiveTen(url));
  };

  test('a standard queue has none, and the seed decides', async () => {
    const first = await arrivals(7);
    expect(first.toSorted()).toEqual(digits(10));
    expect(first).not.toEqual(digits(10));
    expect(await arrivals(7)).toEqual(first);
    expect(await arrivals(8)).not.toEqual(first);
  });

  test('a FIFO queue gives as much as it can of one group before it goes on to another', async () => {
    const { bench, create } = startSqs();
    const url = create({ fifo: true });
    for (const body of digits(6)) await bench.sendTo(url, Number(body) % 2 === 0 ? 'even' : 'odd', body);
    const received = bodies(await bench.receive(url, { MaxNumberOfMessages: 4 })).join('');
    expect(['0241', '1350']).toContain(received);
  });

  test('a FIFO group stays closed until the last of its messages is deleted or visible', async () => {
    const { bench, create } = startSqs();
    const url = create({ fifo: true, visibilityTimeoutSeconds: 10 });
    for (const body of ['1', '2', '3']) await bench.sendTo(url, 'a', body);
    const [first] = await bench.receive(url, { MaxNumberOfMessages: 2 });
    const VisibilityTimeout = 0;
    const { ReceiptHandle } = first ?? {};
    await bench.client.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout }),
    );
    expect(await bench.receiveTen(url)).toEqual([]);
    await bench.passSeconds(10);
    expect(bodies(await bench.receiveTen(url))).toEqual(['1', '2', '3']);
  });

  test('a delay of a FIFO queue keeps the order', async () => {
    const { bench, create } = startSqs();
    const url = create({ fifo: true, delaySeconds: 5 });
    await bench.sendTo(url, 'a', '1');
    await bench.passSeconds(4);
    await bench.sendTo(url, 'a', '2');
    await bench.passSeconds(1);
    expect(bodies(await bench.receiveTen(url))).toEqual(['1']);
  });
});

describe('limits', () => {
  test('a FIFO queue looks for free groups among its first messages only', async () => {
    const { bench, create } = startSqs({ limits: { fifoLookaheadMessagesMax: 3 } });
    const url = create({ fifo: true });
    for (const body of ['a1', 'a2', 'a3', 'a4']) await bench.sendTo(url, 'a', body);
    await bench.sendTo(url, 'b', 'b1');
    const [a1, a2] = await bench.receive(url, { MaxNumberOfMessages: 2 });
    expect(await bench.receiveTen(url)).toEqual([]);
    await bench.remove(url, a1 ?? {});
    expect(await bench.receiveTen(url)).toEqual([]);
    await bench.remove(url, a2 ?? {});
    expect(bodies(await bench.receiveTen(url)).toSorted()).toEqual(['a3', 'a4', 'b1']);
  });

  test('too many messages in flight are OverLimit on a standard queue, unless it is a long poll', async () => {
    const { bench, create } = startSqs({ limits: { inFlightMessagesMax: 2 } });
    const url = create();
    for (const body of digits(3)) await bench.send(url, body);
    expect(await bench.receiveTen(url)).toHaveLength(2);
    await expect(bench.receive(url)).rejects.toBeInstanceOf(OverLimit);
    const polled = bench.receive(url, { WaitTimeSeconds: 1 });
    await bench.passSeconds(1);
    expect(await polled).toEqual([]);
  });

  test('too many messages in flight are silence on a FIFO queue', async () => {
    const { bench, create } = startSqs({ limits: { inFlightMessagesMax: 1 } });
    const url = create({ fifo: true });
    await bench.sendTo(url, 'a', '1');
    await bench.sendTo(url, 'b', '2');
    expect(await bench.receiveTen(url)).toHaveLength(1);
    expect(await bench.receiveTen(url)).toEqual([]);
  });

  test('a FIFO queue takes 300 calls of a kind a second, if it is configured to count them', async () => {
    const { bench, create } = startSqs({ limits: { fifoCallsPerSecond: 2 } });
    const url = create({ fifo: true, throttled: true });
    await bench.sendTo(url, 'a', '1');
    await bench.sendBatch(url, [
      { Id: '2', MessageBody: '2', MessageGroupId: 'a', MessageDeduplicationId: '2' },
      { Id: '3', MessageBody: '3', MessageGroupId: 'a', MessageDeduplicationId: '3' },
    ]);
    await expect(bench.sendTo(url, 'b', '4')).rejects.toBeInstanceOf(RequestThrottled);
    expect(await bench.receiveTen(url)).toHaveLength(3);
    await bench.passSeconds(1);
    await bench.sendTo(url, 'b', '4');
  });

  test('with high throughput each group has its own quota, and the queue another', async () => {
    const limits = { fifoCallsPerGroupAndSecond: 1, fifoMessagesPerSecond: 3 };
    const { bench, create } = startSqs({ limits });
    const high = { deduplicationScope: 'messageGroup', fifoThroughputLimit: 'perMessageGroupId' } as const;
    const url = create({ fifo: true, throttled: true, ...high });
    await bench.sendTo(url, 'a', '1');
    await expect(bench.sendTo(url, 'a', '2')).rejects.toBeInstanceOf(RequestThrottled);
    await bench.sendTo(url, 'b', '3');
    await expect(bench.sendTo(url, 'c', '4')).rejects.toBeInstanceOf(RequestThrottled);
  });

  test('a message is forgotten when its retention is over', async () => {
    const { bench, create } = startSqs();
    const url = create({ messageRetentionSeconds: HOUR_SECONDS });
    await bench.send(url, 'old');
    await bench.passSeconds(HOUR_SECONDS - 1);
    await bench.send(url, 'new');
    await bench.passSeconds(1);
    expect(bodies(await bench.receiveTen(url))).toEqual(['new']);
  });

  test('a deduplication id is forgotten after five minutes', async () => {
    const { bench, create } = startSqs();
    const url = create({ fifo: true });
    await bench.sendTo(url, 'a', 'first', 'id');
    await bench.passSeconds(299);
    await bench.sendTo(url, 'a', 'second', 'id');
    await bench.passSeconds(1);
    await bench.sendTo(url, 'a', 'third', 'id');
    expect(bodies(await bench.receiveTen(url))).toEqual(['first', 'third']);
  });

  test('a message is hidden for twelve hours in all at most', async () => {
    const { bench, create } = startSqs();
    const url = create();
    await bench.send(url, 'hello');
    const { ReceiptHandle } = await bench.receiveOne(url);
    const hide = (VisibilityTimeout: number) =>
      nameOf(
        bench.client.send(
          new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout }),
        ),
      );
    expect(await hide(43_201)).toBe('InvalidParameterValue');
    expect(await hide(43_200)).toBe('no error');
    await bench.passSeconds(10);
    expect(await hide(43_191)).toBe('InvalidParameterValue');
    expect(await hide(43_190)).toBe('no error');
  });
});

describe('a refused request', () => {
  const send = (fifo: boolean, fields: Partial<SendMessageCommandInput>): Promise<string> => {
    const { bench, create } = startSqs();
    const own = fifo ? { MessageGroupId: 'a', MessageDeduplicationId: '1' } : {};
    return nameOf(bench.send(create({ fifo }), 'hello', { ...own, ...fields }));
  };

  test.each<[string, boolean, Partial<SendMessageCommandInput>]>([
    ['a deduplication id on a standard queue', false, { MessageDeduplicationId: 'x' }],
    ['a delay over 900 s', false, { DelaySeconds: 901 }],
    ['a delay below 0', false, { DelaySeconds: -1 }],
    ['a group id with a space', true, { MessageGroupId: 'a b' }],
    ['a group id beyond ASCII', true, { MessageGroupId: 'ä' }],
    ['a group id of 129 characters', true, { MessageGroupId: 'x'.repeat(129) }],
    ['an empty group id', false, { MessageGroupId: '' }],
    ['a deduplication id of 129 characters', true, { MessageDeduplicationId: 'x'.repeat(129) }],
    ['an attribute of an unknown type', false, attributes({ a: { DataType: 'Date', StringValue: 'x' } })],
    ['an attribute without a type', false, attributes({ a: { DataType: '', StringValue: 'x' } })],
    ['an attribute without a value', false, attributes({ a: { DataType: 'String' } })],
    ['a number that is none', false, attributes({ a: { DataType: 'Number', StringValue: 'x' } })],
    ["an attribute of Amazon's", false, attributes({ 'AWS.a': { DataType: 'String', StringValue: 'x' } })],
    ['a name with two periods', false, attributes({ 'a..b': { DataType: 'String', StringValue: 'x' } })],
    [
      'eleven attributes',
      false,
      attributes(Object.fromEntries(digits(11).map((d) => [d, { DataType: 'String', StringValue: 'x' }]))),
    ],
    [
      'attributes that make a message too large',
      false,
      attributes({ a: { DataType: 'String', StringValue: 'x'.repeat(1_048_576) } }),
    ],
    [
      'a system attribute that is not of X-Ray',
      false,
      { MessageSystemAttributes: { Other: { DataType: 'String', StringValue: 'x' } } } as never,
    ],
  ])('%s', async (_title, fifo, fields) => {
    expect(await send(fifo, fields)).toBe('InvalidParameterValue');
  });

  test.each<[string, boolean, Partial<SendMessageCommandInput>]>([
    ['a delay of 900 s', false, { DelaySeconds: 900 }],
    ['a group on a standard queue, for fairness', false, { MessageGroupId: 'tenant' }],
    [
      'ids of 128 characters of punctuation',
      true,
      { MessageGroupId: `!~"#$%&'()*+,-./:;<=>?@[]^_{|}`.padEnd(128, '`') },
    ],
  ])('but not %s', async (_title, fifo, fields) => {
    expect(await send(fifo, fields)).toBe('no error');
  });

  test('a change of visibility of a message that is not in flight, or is gone', async () => {
    const { bench, create } = startSqs();
    const url = create({ visibilityTimeoutSeconds: 1 });
    await bench.send(url, 'hello');
    const message = await bench.receiveOne(url);
    const hide = () =>
      bench.client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: url,
          ReceiptHandle: message.ReceiptHandle,
          VisibilityTimeout: 5,
        }),
      );
    await bench.passSeconds(1);
    await expect(hide()).rejects.toBeInstanceOf(MessageNotInflight);
    await bench.remove(url, message);
    expect(await nameOf(hide())).toBe('InvalidParameterValue');
  });

  test("another queue's receipt handle", async () => {
    const { bench, create } = startSqs();
    const url = create();
    await bench.send(url, 'hello');
    const message = await bench.receiveOne(url);
    const other = create({ name: 'other' });
    await expect(bench.remove(other, message)).rejects.toBeInstanceOf(ReceiptHandleIsInvalid);
    const Entries = [{ Id: 'a', ReceiptHandle: message.ReceiptHandle }];
    const { Failed } = await bench.client.send(new DeleteMessageBatchCommand({ QueueUrl: other, Entries }));
    expect(Failed).toMatchObject([{ Id: 'a', SenderFault: true, Code: 'ReceiptHandleIsInvalid' }]);
  });

  test('a queue of another account', async () => {
    const { bench, create } = startSqs();
    const url = create().replace('123456789012', '210987654321');
    await expect(bench.send(url, 'hello')).rejects.toBeInstanceOf(QueueDoesNotExist);
  });

  test('a second purge within a minute', async () => {
    const { bench, create } = startSqs();
    const purge = new PurgeQueueCommand({ QueueUrl: create() });
    await bench.client.send(purge);
    await bench.passSeconds(59);
    await expect(bench.client.send(purge)).rejects.toBeInstanceOf(PurgeQueueInProgress);
    await bench.passSeconds(1);
    await bench.client.send(purge);
  });

  test('an operation or attribute that the emulator does not know, named in the error', async () => {
    const { bench, create } = startSqs();
    const QueueUrl = create({ fifo: true });
    await expect(bench.client.send(new TagQueueCommand({ QueueUrl, Tags: {} }))).rejects.toThrow('TagQueue');
    const attempt = bench.receive(QueueUrl, { ReceiveRequestAttemptId: 'again' });
    await expect(attempt).rejects.toBeInstanceOf(UnsupportedOperation);
    const named = bench.receive(QueueUrl, { MessageSystemAttributeNames: ['Nothing' as never] });
    await expect(named).rejects.toBeInstanceOf(InvalidAttributeName);
  });

  test('an operation or attribute with the name of an inherited member', async () => {
    const { sqs, bench, create } = startSqs();
    const body = JSON.stringify({ QueueUrl: create() });
    const headers = { 'X-Amz-Target': 'AmazonSQS.constructor' };
    const { response } = await sqs.requestHandler().handle({ headers, body });
    expect(JSON.parse(String(response.body)).__type).toContain('UnknownOperation');
    const attributes = { QueueName: 'q', Attributes: { toString: 'x' } as never };
    const created = bench.client.send(new CreateQueueCommand(attributes));
    await expect(created).rejects.toBeInstanceOf(InvalidAttributeName);
  });

  test('a lone half of a surrogate pair, and a body that is no JSON object', async () => {
    const { sqs, create } = startSqs();
    const url = create();
    const handler = sqs.requestHandler();
    const headers = { 'X-Amz-Target': 'AmazonSQS.SendMessage' };
    const half = `{"QueueUrl":"${url}","MessageBody":"\\ud800"}`;
    const answers = [half, 'no JSON', '[]', `{"QueueUrl":1}`].map((body) =>
      handler.handle({ headers, body }),
    );
    const types = (await Promise.all(answers)).map(
      ({ response }) => JSON.parse(String(response.body)).__type,
    );
    expect(types).toEqual([
      'com.amazonaws.sqs#InvalidMessageContents',
      ...Array(3).fill('com.amazon.coral.service#SerializationException'),
    ]);
  });
});

describe('queues that cannot be created', () => {
  test.each([
    ['a FIFO queue without .fifo', { name: 'jobs', fifo: true }, '.fifo'],
    ['a standard queue with .fifo', { name: 'jobs.fifo' }, 'letters'],
    ['a visibility timeout over twelve hours', { name: 'a', visibilityTimeoutSeconds: 43_201 }, '43200'],
    ['a delay over 900 s', { name: 'a', delaySeconds: 901 }, '900'],
    ['a retention under a minute', { name: 'a', messageRetentionSeconds: 59 }, '60'],
    ['deduplication on a standard queue', { name: 'a', contentBasedDeduplication: true }, 'FIFO'],
    [
      'high throughput without its scope',
      { name: 'a.fifo', fifo: true, fifoThroughputLimit: 'perMessageGroupId' as const },
      'messageGroup',
    ],
    ['no dead-letter queue', { name: 'a', redrive: { deadLetterQueue: 'b', maxReceiveCount: 3 } }, 'b'],
  ])('%s', (_title, options, message) => {
    expect(() => createSqs().createQueue(options)).toThrow(message);
  });

  test('a dead-letter queue of the other kind', () => {
    const sqs = createSqs();
    sqs.createQueue({ name: 'dead' });
    const redrive = { deadLetterQueue: 'dead', maxReceiveCount: 3 };
    expect(() => sqs.createQueue({ name: 'jobs.fifo', fifo: true, redrive })).toThrow('FIFO');
  });

  test('a second one of the same name with other attributes, through the API', async () => {
    const { bench } = startSqs();
    const create = (DelaySeconds: string) =>
      bench.client.send(new CreateQueueCommand({ QueueName: 'jobs', Attributes: { DelaySeconds } }));
    const first = await create('1');
    expect((await create('1')).QueueUrl).toBe(first.QueueUrl);
    await expect(create('2')).rejects.toBeInstanceOf(QueueNameExists);
  });
});

function attributes(MessageAttributes: SendMessageCommandInput['MessageAttributes']) {
  return { MessageAttributes };
}
