import {
  BatchEntryIdsNotDistinct,
  BatchRequestTooLong,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  EmptyBatchRequest,
  GetQueueUrlCommand,
  InvalidBatchEntryId,
  InvalidMessageContents,
  QueueDoesNotExist,
  ReceiptHandleIsInvalid,
  type SendMessageBatchRequestEntry,
  TooManyEntriesInBatchRequest,
} from '@aws-sdk/client-sqs';
import { describe, expect } from 'vitest';
import { type Bench, bodies, MIB, nameOf } from './bench.ts';

export function batchesAndBadInput(bench: Bench): void {
  const { client, it, createQueue, createFifo, send, sendBatch, receive, receiveTen, receiveOne, remove } =
    bench;

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

    it('is refused: characters that XML does not have', async () => {
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

    it('is refused: a receipt handle that the queue has not given out', async () => {
      const url = await createQueue();
      await expect(remove(url, { ReceiptHandle: 'made-up' })).rejects.toBeInstanceOf(ReceiptHandleIsInvalid);
    });
  });
}
