import { describe, expect } from 'vitest';
import { type Bench, bodies, nameOf } from './bench.ts';

export function fifoQueues(bench: Bench): void {
  const {
    passSeconds,
    it,
    createQueue,
    createFifo,
    attributesOf,
    send,
    sendTo,
    receive,
    receiveTen,
    receiveOne,
    remove,
  } = bench;

  describe('a FIFO queue', () => {
    it('keeps the order of a group', async () => {
      const url = await createFifo();
      for (const body of ['1', '2', '3', '4', '5']) await sendTo(url, 'a', body);
      expect(bodies(await receiveTen(url))).toEqual(['1', '2', '3', '4', '5']);
    });

    it('delivers no message of a group while another of it is in flight, but those of others', async () => {
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

    it('answers a long poll as soon as a group is free', async () => {
      const url = await createFifo();
      await sendTo(url, 'a', '1');
      await sendTo(url, 'a', '2');
      const [first] = await receive(url);
      const polled = receive(url, { WaitTimeSeconds: 20 });
      await passSeconds(1);
      await remove(url, first ?? {});
      expect(bodies(await polled)).toEqual(['2']);
    });

    it('delivers a group again from its first message when the timeout is over', async () => {
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

    it('deduplicates by content if it is configured so', async () => {
      const url = await createFifo({ ContentBasedDeduplication: 'true' });
      await send(url, 'hello', { MessageGroupId: 'a' });
      await send(url, 'hello', { MessageGroupId: 'b' });
      await send(url, 'other', { MessageGroupId: 'c' });
      expect(bodies(await receiveTen(url)).toSorted()).toEqual(['hello', 'other']);
    });

    it('deduplicates in each group separately if it is configured so', async () => {
      const url = await createFifo({
        DeduplicationScope: 'messageGroup',
        FifoThroughputLimit: 'perMessageGroupId',
      });
      await sendTo(url, 'a', 'hello', 'id');
      await sendTo(url, 'b', 'hello', 'id');
      await sendTo(url, 'b', 'hello', 'id');
      expect(bodies(await receiveTen(url))).toEqual(['hello', 'hello']);
    });

    it('requires a group and an id', async () => {
      const url = await createFifo();
      expect(await nameOf(send(url, 'x', { MessageDeduplicationId: 'x' }))).toBe('MissingParameter');
      expect(await nameOf(send(url, 'x', { MessageGroupId: 'x' }))).toBe('InvalidParameterValue');
    });

    it('refuses a delay of a message other than 0', async () => {
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
      const RedrivePolicy = JSON.stringify({
        deadLetterTargetArn: (await attributesOf(dead)).QueueArn,
        maxReceiveCount: 2,
      });
      return { dead, url: await createQueue({ ...attributes, VisibilityTimeout: '1', RedrivePolicy }) };
    }

    it('move messages that were received too often, from a standard queue', async () => {
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
      expect(Attributes?.DeadLetterQueueSourceArn).toBe((await attributesOf(url)).QueueArn);
    });
  });
}
