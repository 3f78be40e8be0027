import {
  BatchEntryIdsNotDistinct,
  BatchRequestTooLong,
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  EmptyBatchRequest,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  InvalidBatchEntryId,
  InvalidMessageContents,
  type Message,
  PurgeQueueCommand,
  QueueDoesNotExist,
  ReceiptHandleIsInvalid,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
  TooManyEntriesInBatchRequest,
} from '@aws-sdk/client-sqs';
import { describe, expect, test } from 'vitest';

/** An SQS to be judged by the same text: ours, or one that is not ours. */
export interface Backend {
  readonly client: SQSClient;
  /** Lets time pass: a clock's, or everybody's. */
  passSeconds(seconds: number): Promise<void>;
  /** Then tests wait side by side. */
  readonly inRealTime?: boolean;
  /** What this one does otherwise, by the title of the test; why it is not held against it. */
  readonly known?: Readonly<Record<string, string>>;
}

const MIB = 1_048_576;

/** What AWS documents of queues, as its SDK sees it. */
export function defineSqsContract(backend: Backend): void {
  const { client, passSeconds } = backend;
  let names = 0;

  const it = (title: string, run: () => Promise<void>): void => {
    const reason = backend.known?.[title];
    if (reason === undefined) test(title, { concurrent: backend.inRealTime === true }, run);
    else test.skip(`${title}: ${reason}`, run);
  };

  async function createQueue(attributes: Record<string, string> = {}): Promise<string> {
    names += 1;
    const suffix = attributes.FifoQueue === 'true' ? '.fifo' : '';
    const QueueName = `contract-${process.pid}-${names}${suffix}`;
    const created = await client.send(new CreateQueueCommand({ QueueName, Attributes: attributes }));
    return created.QueueUrl ?? '';
  }

  const createFifo = (attributes: Record<string, string> = {}): Promise<string> =>
    createQueue({ FifoQueue: 'true', ...attributes });

  async function arnOf(QueueUrl: string): Promise<string> {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] });
    return (await client.send(command)).Attributes?.QueueArn ?? '';
  }

  const send = (QueueUrl: string, MessageBody: string, fields: Partial<SendMessageCommandInput> = {}) =>
    client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fields }));

  const sendTo = (QueueUrl: string, group: string, body: string, id = body) =>
    send(QueueUrl, body, { MessageGroupId: group, MessageDeduplicationId: id });

  const sendBatch = (QueueUrl: string, Entries: SendMessageBatchRequestEntry[]) =>
    client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));

  async function receive(
    QueueUrl: string,
    fields: Partial<ReceiveMessageCommandInput> = {},
  ): Promise<Message[]> {
    const command = new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ['All'], ...fields });
    return (await client.send(command)).Messages ?? [];
  }

  const receiveTen = (QueueUrl: string) => receive(QueueUrl, { MaxNumberOfMessages: 10 });

  /** The body of the only message. */
  async function receiveOne(QueueUrl: string): Promise<Message> {
    const messages = await receiveTen(QueueUrl);
    expect(messages).toHaveLength(1);
    return messages[0] ?? {};
  }

  const remove = (QueueUrl: string, { ReceiptHandle }: Message) =>
    client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));

  const bodies = (messages: readonly Message[]) => messages.map(({ Body }) => Body);

  const nameOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'no error',
      (error: Error) => error.name,
    );

  describe('a standard queue', () => {
    it('gives what was sent, and nothing once it is deleted', async () => {
      const url = await createQueue();
      const sent = await send(url, 'Grüße');
      const message = await receiveOne(url);
      expect(message).toMatchObject({ Body: 'Grüße', MessageId: sent.MessageId });
      await remove(url, message);
      await passSeconds(1);
      expect(await receiveTen(url)).toEqual([]);
    });

    it('says when a message was sent, and how often it was received', async () => {
      const url = await createQueue({ VisibilityTimeout: '1' });
      await send(url, 'hello');
      const first = await receiveOne(url);
      expect(first.Attributes).toMatchObject({
        ApproximateReceiveCount: '1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
        ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        SenderId: expect.any(String),
      });
      await passSeconds(2);
      const second = await receiveOne(url);
      expect(second.Attributes).toMatchObject({
        ApproximateReceiveCount: '2',
        ApproximateFirstReceiveTimestamp: first.Attributes?.ApproximateFirstReceiveTimestamp,
      });
      expect(second.ReceiptHandle).not.toBe(first.ReceiptHandle);
    });

    it('hides a message until its visibility timeout is over', async () => {
      const url = await createQueue({ VisibilityTimeout: '2' });
      await send(url, 'hello');
      await receiveOne(url);
      await passSeconds(1);
      expect(await receiveTen(url)).toEqual([]);
      await passSeconds(2);
      expect((await receiveOne(url)).Body).toBe('hello');
    });

    it('gives a message back at once when its visibility is changed to 0', async () => {
      const url = await createQueue();
      await send(url, 'hello');
      const { ReceiptHandle } = await receiveOne(url);
      await client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout: 0 }),
      );
      expect((await receiveOne(url)).Body).toBe('hello');
    });

    it('hides a message longer when its visibility is changed', async () => {
      const url = await createQueue({ VisibilityTimeout: '1' });
      await send(url, 'hello');
      const { ReceiptHandle } = await receiveOne(url);
      await client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout: 60 }),
      );
      await passSeconds(2);
      expect(await receiveTen(url)).toEqual([]);
    });

    it('delays a message by its own seconds, or else by those of the queue', async () => {
      const url = await createQueue({ DelaySeconds: '3' });
      await send(url, 'the queue');
      await send(url, 'its own', { DelaySeconds: 1 });
      await send(url, 'none', { DelaySeconds: 0 });
      expect(bodies(await receiveTen(url))).toEqual(['none']);
      await passSeconds(2);
      expect(bodies(await receiveTen(url))).toEqual(['its own']);
      await passSeconds(2);
      expect(bodies(await receiveTen(url))).toEqual(['the queue']);
    });

    it('takes the same message twice', async () => {
      const url = await createQueue();
      await send(url, 'hello');
      await send(url, 'hello');
      expect(bodies(await receiveTen(url))).toEqual(['hello', 'hello']);
    });

    it('gives at most as many as are asked for, one by default', async () => {
      const url = await createQueue();
      await sendBatch(
        url,
        ['a', 'b', 'c', 'd'].map((MessageBody) => ({ Id: MessageBody, MessageBody })),
      );
      expect(await receive(url)).toHaveLength(1);
      expect(await receive(url, { MaxNumberOfMessages: 2 })).toHaveLength(2);
      expect(await receiveTen(url)).toHaveLength(1);
    });

    it('answers a long poll as soon as a message is sent', async () => {
      const url = await createQueue();
      const polled = receive(url, { WaitTimeSeconds: 20 });
      await send(url, 'hello');
      expect(bodies(await polled)).toEqual(['hello']);
    });

    it('gives up a long poll when its time is over', async () => {
      const url = await createQueue();
      const polled = receive(url, { WaitTimeSeconds: 1 });
      await passSeconds(2);
      expect(await polled).toEqual([]);
    });

    it('carries attributes, those that are asked for, and their digest', async () => {
      const url = await createQueue();
      const sent = await send(url, 'hello', {
        MessageAttributes: {
          city: { DataType: 'String', StringValue: 'Any City' },
          'trace.id': { DataType: 'Binary', BinaryValue: Buffer.from([1, 2, 3]) },
          'trace.depth': { DataType: 'Number', StringValue: '7' },
        },
      });
      expect(sent.MD5OfMessageAttributes).toMatch(/^[0-9a-f]{32}$/);
      const [message] = await receive(url, { MessageAttributeNames: ['All'] });
      expect(message?.MD5OfMessageAttributes).toBe(sent.MD5OfMessageAttributes);
      expect(message?.MessageAttributes).toMatchObject({
        city: { DataType: 'String', StringValue: 'Any City' },
        'trace.id': { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 3]) },
      });
    });

    it('forgets nothing of a message whose handle is an older one', async () => {
      const url = await createQueue({ VisibilityTimeout: '1' });
      await send(url, 'hello');
      const first = await receiveOne(url);
      await passSeconds(2);
      const second = await receiveOne(url);
      await remove(url, first);
      await passSeconds(2);
      expect((await receiveOne(url)).MessageId).toBe(second.MessageId);
    });

    it('deletes twice what is deleted once', async () => {
      const url = await createQueue();
      await send(url, 'hello');
      const message = await receiveOne(url);
      await remove(url, message);
      await remove(url, message);
    });

    it('counts what is there, in flight and delayed', async () => {
      const url = await createQueue();
      await send(url, 'a');
      await send(url, 'b');
      await send(url, 'c', { DelaySeconds: 900 });
      await receive(url);
      const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] });
      expect((await client.send(command)).Attributes).toMatchObject({
        ApproximateNumberOfMessages: '1',
        ApproximateNumberOfMessagesNotVisible: '1',
        ApproximateNumberOfMessagesDelayed: '1',
        VisibilityTimeout: '30',
      });
    });

    it('is empty once it is purged', async () => {
      const url = await createQueue();
      await send(url, 'hello');
      await client.send(new PurgeQueueCommand({ QueueUrl: url }));
      expect(await receiveTen(url)).toEqual([]);
    });
  });

  describe('a FIFO queue', () => {
    it('keeps the order of a group', async () => {
      const url = await createFifo();
      for (const body of ['1', '2', '3', '4', '5']) await sendTo(url, 'a', body);
      expect(bodies(await receiveTen(url))).toEqual(['1', '2', '3', '4', '5']);
    });

    it('gives nothing of a group while something of it is in flight, but of others', async () => {
      const url = await createFifo();
      await sendTo(url, 'a', 'a1');
      await sendTo(url, 'a', 'a2');
      const a1 = await receive(url);
      expect(bodies(a1)).toEqual(['a1']);
      await sendTo(url, 'b', 'b1');
      expect(bodies(await receiveTen(url))).toEqual(['b1']);
      await remove(url, a1[0] ?? {});
      expect(bodies(await receiveTen(url))).toEqual(['a2']);
    });

    it('gives a group again from its first message when the timeout is over', async () => {
      const url = await createFifo({ VisibilityTimeout: '1' });
      for (const body of ['1', '2', '3']) await sendTo(url, 'a', body);
      const [first] = await receive(url, { MaxNumberOfMessages: 2 });
      await remove(url, first ?? {});
      await passSeconds(2);
      expect(bodies(await receiveTen(url))).toEqual(['2', '3']);
    });

    it('numbers its messages along the queue', async () => {
      const url = await createFifo();
      const first = await sendTo(url, 'a', '1');
      const second = await sendTo(url, 'b', '2');
      expect(Number(second.SequenceNumber)).toBeGreaterThan(Number(first.SequenceNumber));
      const messages = await receiveTen(url);
      const received = messages.map(({ Attributes }) => Attributes?.SequenceNumber);
      expect(new Set(received)).toEqual(new Set([first.SequenceNumber, second.SequenceNumber]));
      expect(messages[0]?.Attributes).toMatchObject({ MessageDeduplicationId: messages[0]?.Body });
    });

    it('answers a duplicate as it did the first one, and keeps only that', async () => {
      const url = await createFifo();
      const first = await sendTo(url, 'a', 'hello', 'id');
      const second = await sendTo(url, 'b', 'other', 'id');
      expect([second.MessageId, second.SequenceNumber]).toEqual([first.MessageId, first.SequenceNumber]);
      expect(second.MD5OfMessageBody).not.toBe(first.MD5OfMessageBody);
      expect(bodies(await receiveTen(url))).toEqual(['hello']);
    });

    it('remembers the id of a deleted message', async () => {
      const url = await createFifo();
      await sendTo(url, 'a', 'hello', 'id');
      await remove(url, await receiveOne(url));
      await sendTo(url, 'a', 'hello', 'id');
      expect(await receiveTen(url)).toEqual([]);
    });

    it('deduplicates by content where it was told to', async () => {
      const url = await createFifo({ ContentBasedDeduplication: 'true' });
      await send(url, 'hello', { MessageGroupId: 'a' });
      await send(url, 'hello', { MessageGroupId: 'b' });
      await send(url, 'other', { MessageGroupId: 'c' });
      expect(bodies(await receiveTen(url)).toSorted()).toEqual(['hello', 'other']);
    });

    it('deduplicates in each group by itself where it was told to', async () => {
      const url = await createFifo({
        DeduplicationScope: 'messageGroup',
        FifoThroughputLimit: 'perMessageGroupId',
      });
      await sendTo(url, 'a', 'hello', 'id');
      await sendTo(url, 'b', 'hello', 'id');
      await sendTo(url, 'b', 'hello', 'id');
      expect(bodies(await receiveTen(url))).toEqual(['hello', 'hello']);
    });

    it('wants a group and an id', async () => {
      const url = await createFifo();
      expect(await nameOf(send(url, 'x', { MessageDeduplicationId: 'x' }))).toBe('MissingParameter');
      expect(await nameOf(send(url, 'x', { MessageGroupId: 'x' }))).toBe('InvalidParameterValue');
    });

    it('refuses a delay of a message, but for 0', async () => {
      const url = await createFifo();
      const fields = { MessageGroupId: 'a', MessageDeduplicationId: '1' };
      expect(await nameOf(send(url, 'x', { ...fields, DelaySeconds: 1 }))).toBe('InvalidParameterValue');
      await send(url, 'x', { ...fields, DelaySeconds: 0 });
      expect(bodies(await receiveTen(url))).toEqual(['x']);
    });

    it('refuses a receipt handle once the visibility timeout is over', async () => {
      const url = await createFifo({ VisibilityTimeout: '1' });
      await sendTo(url, 'a', 'hello');
      const message = await receiveOne(url);
      await passSeconds(2);
      expect(await nameOf(remove(url, message))).toBe('InvalidParameterValue');
      expect((await receiveOne(url)).MessageId).toBe(message.MessageId);
    });
  });

  describe('dead letters', () => {
    async function withDeadLetters(attributes: Record<string, string>) {
      const dead = await createQueue(attributes);
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: await arnOf(dead), maxReceiveCount: 2 });
      return { dead, url: await createQueue({ ...attributes, VisibilityTimeout: '1', RedrivePolicy }) };
    }

    it('move what was received too often, from a standard queue', async () => {
      const { dead, url } = await withDeadLetters({});
      const sent = await send(url, 'poison');
      for (const _ of [1, 2]) {
        await receiveOne(url);
        await passSeconds(2);
      }
      expect(await receiveTen(url)).toEqual([]);
      expect(await receiveOne(dead)).toMatchObject({ MessageId: sent.MessageId, Body: 'poison' });
    });

    it('let the rest of a FIFO group go on', async () => {
      const { dead, url } = await withDeadLetters({ FifoQueue: 'true' });
      await sendTo(url, 'a', 'poison');
      await sendTo(url, 'a', 'next');
      for (const _ of [1, 2]) {
        expect(bodies(await receive(url))).toEqual(['poison']);
        await passSeconds(2);
      }
      expect(bodies(await receiveTen(url))).toEqual(['next']);
      const { Attributes, Body } = await receiveOne(dead);
      expect(Body).toBe('poison');
      expect(Attributes?.DeadLetterQueueSourceArn).toBe(await arnOf(url));
    });
  });

  describe('batches', () => {
    const entry = (Id: string, MessageBody = 'x'): SendMessageBatchRequestEntry => ({ Id, MessageBody });

    it('send, hide and delete several messages', async () => {
      const url = await createQueue();
      const sent = await sendBatch(url, [entry('one', '1'), entry('two', '2')]);
      expect(sent.Successful?.map(({ Id }) => Id)).toEqual(['one', 'two']);
      const messages = await receiveTen(url);
      const handles = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      const changes = handles.map((handle) => ({ ...handle, VisibilityTimeout: 0 }));
      await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries: changes }));
      const again = await receiveTen(url);
      expect(bodies(again).toSorted()).toEqual(['1', '2']);
      const Entries = again.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      const deleted = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      expect(deleted.Successful).toHaveLength(2);
    });

    it('are kept in their order on a FIFO queue', async () => {
      const url = await createFifo();
      const Entries = Array.from({ length: 10 }, (_, index) => ({
        ...entry(`e${index}`, String(index)),
        MessageGroupId: 'a',
        MessageDeduplicationId: String(index),
      }));
      await sendBatch(url, Entries);
      expect(bodies(await receiveTen(url))).toEqual(Entries.map(({ MessageBody }) => MessageBody));
    });

    it('name the entries that failed', async () => {
      const url = await createQueue();
      const { Successful, Failed } = await sendBatch(url, [entry('good'), entry('bad', '\u0001')]);
      expect(Successful?.map(({ Id }) => Id)).toEqual(['good']);
      expect(Failed).toMatchObject([{ Id: 'bad', SenderFault: true, Code: 'InvalidMessageContents' }]);
    });

    it('are refused when they are empty, too many, too long, or name their entries badly', async () => {
      const url = await createQueue();
      await expect(sendBatch(url, [])).rejects.toBeInstanceOf(EmptyBatchRequest);
      const eleven = Array.from({ length: 11 }, (_, index) => entry(String(index)));
      await expect(sendBatch(url, eleven)).rejects.toBeInstanceOf(TooManyEntriesInBatchRequest);
      await expect(sendBatch(url, [entry('a'), entry('a')])).rejects.toBeInstanceOf(BatchEntryIdsNotDistinct);
      await expect(sendBatch(url, [entry('a b')])).rejects.toBeInstanceOf(InvalidBatchEntryId);
      const half = 'x'.repeat(MIB / 2);
      await expect(sendBatch(url, [entry('a', half), entry('b', `${half}x`)])).rejects.toBeInstanceOf(
        BatchRequestTooLong,
      );
      expect((await sendBatch(url, [entry('a', half), entry('b', half)])).Successful).toHaveLength(2);
    });
  });

  describe('bad input', () => {
    it('is refused: a queue that does not exist', async () => {
      const url = await createQueue();
      await expect(send(`${url}-not`, 'x')).rejects.toBeInstanceOf(QueueDoesNotExist);
      const command = new GetQueueUrlCommand({ QueueName: 'nowhere' });
      await expect(client.send(command)).rejects.toBeInstanceOf(QueueDoesNotExist);
    });

    it('is refused: characters that XML does not have, and lone surrogates', async () => {
      const url = await createQueue();
      await expect(send(url, 'a\u0000b')).rejects.toBeInstanceOf(InvalidMessageContents);
      await expect(send(url, 'a\ufffeb')).rejects.toBeInstanceOf(InvalidMessageContents);
      const sent = await send(url, '\t\n\r 🙂');
      expect((await receiveOne(url)).MessageId).toBe(sent.MessageId);
    });

    it('is refused: no body, and a body over one MiB', async () => {
      const url = await createQueue();
      expect(await nameOf(send(url, ''))).toBe('MissingParameter');
      expect(await nameOf(send(url, 'x'.repeat(MIB + 1)))).toBe('InvalidParameterValue');
      await send(url, 'x'.repeat(MIB));
    });

    it('is refused: more than ten messages of a receive', async () => {
      const url = await createQueue();
      expect(await nameOf(receive(url, { MaxNumberOfMessages: 11 }))).toBe('InvalidParameterValue');
    });

    it('is refused: a receipt handle that nobody has given out', async () => {
      const url = await createQueue();
      await expect(remove(url, { ReceiptHandle: 'made-up' })).rejects.toBeInstanceOf(ReceiptHandleIsInvalid);
    });
  });
}
