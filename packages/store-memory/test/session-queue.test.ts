import type { QueuedPublish, SessionRef } from '@apus/broker';
import { deliveryTo, messageOf, ROOMY } from '@apus/broker/samples';
import { HeldMessage, MemoryBudget } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';
import { Holdings } from '../src/holdings.ts';
import { SessionQueue } from '../src/session-queue.ts';

/** The upper half of the range is for messages that no store keeps. */
const PACKET_ID_MAX = 32_767;
const session: SessionRef = {
  key: 't\0c',
  tenant: 't',
  clientId: 'c',
  incarnation: '1',
  attachment: undefined,
};

function entry(): QueuedPublish {
  return { type: 'publish', message: messageOf({ qos: 2 }), delivery: deliveryTo(session, { qos: 2 }) };
}

function held(): HeldMessage {
  return new HeldMessage(new MemoryBudget(), messageOf({ qos: 2 }), 't');
}

/** Sends a message and answers its packet id. */
function send(queue: SessionQueue): number {
  const sent = entry();
  queue.send(sent, held());
  return sent.delivery.packetId;
}

describe('SessionQueue', () => {
  it('gives packet ids in turn and begins again behind the last, past those in use [MQTT-2.2.1-4]', () => {
    const queue = new SessionQueue(new Holdings().of({ tenant: 't', name: 'n' }, 'c'));
    const first = send(queue);
    expect(first).toBe(1);
    for (let packetId = 2; packetId <= PACKET_ID_MAX; packetId += 1) {
      expect(send(queue)).toBe(packetId);
      if (packetId !== 3) queue.complete(packetId, undefined);
    }
    expect(send(queue)).toBe(2);
    expect(send(queue)).toBe(4);
  });

  it('sends the PUBREL for a PUBREC that came, late, before the message was sent again', () => {
    const queue = new SessionQueue(new Holdings().of({ tenant: 't', name: 'n' }, 'c'));
    const packetId = send(queue);
    queue.rewind();
    expect(queue.release(packetId)).toBe('done');
    expect(queue.canSend(10)).toBe(true);
    const page = { messages: 10, bytes: Number.POSITIVE_INFINITY };
    expect(queue.dequeue(10, page, 0)).toEqual([{ type: 'pubrel', packetId }]);
    expect(queue.dequeue(10, page, 0)).toEqual([]);
  });

  it('sends nothing more while PUBRELs hold every packet id, for any window', () => {
    const queue = new SessionQueue(new Holdings().of({ tenant: 't', name: 'n' }, 'c'));
    for (let count = 0; count < PACKET_ID_MAX; count += 1) queue.release(send(queue));
    queue.rewind();
    expect(
      queue.dequeue(PACKET_ID_MAX, { messages: PACKET_ID_MAX, bytes: Number.POSITIVE_INFINITY }, 0),
    ).toHaveLength(PACKET_ID_MAX);
    expect(queue.canSend(10)).toBe(false);
    expect(queue.wait(entry(), held(), ROOMY)).toBe(0);
    expect(queue.dequeue(10, { messages: 10, bytes: Number.POSITIVE_INFINITY }, 0)).toEqual([]);
    queue.complete(7, undefined);
    expect(queue.dequeue(10, { messages: 10, bytes: Number.POSITIVE_INFINITY }, 0)).toMatchObject([
      { type: 'publish', delivery: { packetId: 7 } },
    ]);
  });
});
