import { ChangeMessageVisibilityCommand, PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { describe, expect } from 'vitest';
import { type Bench, bodies } from './bench.ts';

export function standardQueues(bench: Bench): void {
  const {
    client,
    passSeconds,
    it,
    createQueue,
    attributesOf,
    send,
    sendBatch,
    receive,
    receiveTen,
    receiveOne,
    remove,
  } = bench;

  describe('a standard queue', () => {
    it('delivers sent messages, and none that was deleted', async () => {
      const url = await createQueue();
      const sent = await send(url, 'Grüße');
      const message = await receiveOne(url);
      expect(message).toMatchObject({ Body: 'Grüße', MessageId: sent.MessageId });
      await remove(url, message);
      await passSeconds(1);
      expect(await receiveTen(url)).toEqual([]);
    });

    it('reports when a message was sent, and how often it was received', async () => {
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
      const url = await createQueue({ VisibilityTimeout: '4' });
      await send(url, 'hello');
      await receiveOne(url);
      await passSeconds(1);
      expect(await receiveTen(url)).toEqual([]);
      await passSeconds(4);
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
      const url = await createQueue({ VisibilityTimeout: '3' });
      await send(url, 'hello');
      const { ReceiptHandle } = await receiveOne(url);
      await client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout: 60 }),
      );
      await passSeconds(4);
      expect(await receiveTen(url)).toEqual([]);
    });

    it('delays a message by its own seconds, or else by those of the queue', async () => {
      const url = await createQueue({ DelaySeconds: '7' });
      await send(url, 'the queue');
      await send(url, 'its own', { DelaySeconds: 2 });
      await send(url, 'none', { DelaySeconds: 0 });
      expect(bodies(await receiveTen(url))).toEqual(['none']);
      await passSeconds(3);
      expect(bodies(await receiveTen(url))).toEqual(['its own']);
      await passSeconds(5);
      expect(bodies(await receiveTen(url))).toEqual(['the queue']);
    });

    it('accepts the same message twice', async () => {
      const url = await createQueue();
      await send(url, 'hello');
      await send(url, 'hello');
      expect(bodies(await receiveTen(url))).toEqual(['hello', 'hello']);
    });

    it('delivers at most as many messages as requested, one by default', async () => {
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

    it('carries attributes, the requested ones, and their digest', async () => {
      const url = await createQueue();
      const sent = await send(url, 'hello', {
        MessageAttributes: {
          'trace.id': { DataType: 'Binary', BinaryValue: Buffer.from([1, 2, 3]) },
          'trace.depth': { DataType: 'Number', StringValue: '7' },
          city: { DataType: 'String', StringValue: 'Any City' },
        },
      });
      expect(sent.MD5OfMessageAttributes).toBe('26f9d75c3a275615ccb7f46bc471315f');
      const [message] = await receive(url, { MessageAttributeNames: ['All'] });
      expect(message?.MD5OfMessageAttributes).toBe(sent.MD5OfMessageAttributes);
      expect(message?.MessageAttributes).toMatchObject({
        city: { DataType: 'String', StringValue: 'Any City' },
        'trace.id': { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 3]) },
      });
    });

    it('keeps a message that is deleted by the handle of an earlier receive', async () => {
      const url = await createQueue({ VisibilityTimeout: '1' });
      await send(url, 'hello');
      const first = await receiveOne(url);
      await passSeconds(2);
      const second = await receiveOne(url);
      await remove(url, first);
      await passSeconds(2);
      expect((await receiveOne(url)).MessageId).toBe(second.MessageId);
    });

    it('accepts a second deletion of a message', async () => {
      const url = await createQueue();
      await send(url, 'hello');
      const message = await receiveOne(url);
      await remove(url, message);
      await remove(url, message);
    });

    it('counts messages that are available, in flight and delayed', async () => {
      const url = await createQueue();
      await send(url, 'a');
      await send(url, 'b');
      await send(url, 'c', { DelaySeconds: 900 });
      await receive(url);
      expect(await attributesOf(url)).toMatchObject({
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
}
