import type { Packet } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { unique } from '../support/client.ts';
import { Door, publishOf } from '../support/door.ts';
import { FakeClock, failure, withService } from '../support/stores.ts';

const WRITES = ['PutItem', 'UpdateItem', 'TransactWriteItems', 'BatchWriteItem'];
const PACKET_ID = 5;

await withService((service) => {
  describe('a PUBLISH whose second recipient cannot be written, as the store is throttled', () => {
    const begin = async () => {
      const fakeClock = new FakeClock();
      const tenant = unique('tenant');
      let isThrottled = false;
      const hooks = {
        before: (operation: string, input: object) => {
          const isForSecond = JSON.stringify(input).includes('second-subscriber');
          if (isThrottled && WRITES.includes(operation) && isForSecond) throw failure('ThrottlingException');
        },
      };
      const stores = service.make({ fakeClock, hooks });
      const door = new Door(stores, tenant, fakeClock.now);
      const name = (suffix: string) => `${tenant}-${suffix}`;
      const come = (connection: string, clientId: string) =>
        door.connect(name(connection), clientId, { cleanStart: false, expiry: 3600 });
      for (const clientId of ['first-subscriber', 'second-subscriber']) {
        await come(clientId, clientId);
        await door.subscribe(name(clientId), ['a'], 2);
      }
      const throttle = (is: boolean) => {
        isThrottled = is;
      };
      /** The payloads that have been sent to each subscriber since the last call. */
      const sent = () =>
        door.published
          .splice(0)
          .flatMap(({ message, deliveries }) =>
            deliveries.map(({ session }) => `${session.clientId} ${Buffer.from(message.payload)}`),
          )
          .toSorted();
      const frame = async (connection: string, ...packets: Packet[]) => {
        const { replies } = await door.frame(name(connection), ...packets);
        return replies.map((packet) => [packet.type, 'reasonCode' in packet ? packet.reasonCode : undefined]);
      };
      return { throttle, sent, come, frame };
    };

    it('is not refused at QoS 1: it comes again, to both and before what is newer', async () => {
      const { throttle, sent, come, frame } = await begin();
      const message = publishOf('a', { qos: 1, payload: '5', packetId: PACKET_ID });
      await come('1', 'publisher');
      throttle(true);
      expect(await frame('1', message)).toEqual([['disconnect', 0x97]]);
      expect(sent()).toEqual([]);
      throttle(false);
      await come('2', 'publisher');
      expect(await frame('2', message)).toEqual([['puback', 0]]);
      expect(sent()).toEqual(['first-subscriber 5', 'second-subscriber 5']);
      expect(await frame('2', publishOf('a', { qos: 1, payload: '6', packetId: 6 }))).toEqual([
        ['puback', 0],
      ]);
      expect(sent()).toEqual(['first-subscriber 6', 'second-subscriber 6']);
    });

    it('is not refused at QoS 2: a client that has it inflight gets it with the next connection, before newer messages', async () => {
      const { throttle, sent, come, frame } = await begin();
      const message = publishOf('a', { qos: 2, payload: '5', packetId: PACKET_ID });
      await come('1', 'publisher');
      throttle(true);
      expect(await frame('1', message)).toEqual([['disconnect', 0x97]]);
      throttle(false);
      await come('2', 'publisher');
      expect(await frame('2', message)).toEqual([['pubrec', 0]]);
      expect(await frame('2', publishOf('a', { qos: 2, payload: '6', packetId: 6 }))).toEqual([
        ['pubrec', 0],
      ]);
      expect(sent()).toEqual(['second-subscriber 5', 'second-subscriber 6']);
      await come('3', 'first-subscriber');
      expect(sent()).toEqual(['first-subscriber 5', 'first-subscriber 6']);
    });
  });
});
