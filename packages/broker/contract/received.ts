import { beforeEach, describe, expect, it } from 'vitest';
import type { ReceivedStore, SessionRef } from '../src/index.ts';
import { Client, type ContractOptions, copyOf, type MakeStores, messageId } from './support.ts';

const MAXIMUM = 3;

/** The contract of every `ReceivedStore`. */
export function receivedStoreContract(
  name: string,
  makeStores: MakeStores,
  { countsAreExact = true }: ContractOptions = {},
): void {
  describe(`${name}: ReceivedStore`, () => {
    let client: Client;
    let session: SessionRef;
    let received: ReceivedStore;

    beforeEach(async () => {
      client = new Client(await makeStores());
      ({ session } = await client.open());
      ({ received } = client.stores);
    });

    const begin = async (packetId: number, id: number, of = session) =>
      await received.begin(of, packetId, messageId(id), MAXIMUM);

    it('calls the first receipt new', async () => {
      expect(await begin(7, 1)).toEqual({ state: 'new', messageId: messageId(1) });
    });

    it('calls a resend pending until the first receipt is marked as delivered, and repeats its message id', async () => {
      await begin(7, 1);
      expect(await begin(7, 2)).toEqual({ state: 'pending', messageId: messageId(1) });
      expect(await begin(7, 3)).toEqual({ state: 'pending', messageId: messageId(1) });
    });

    it('calls a resend delivered once the message was handed on [MQTT-4.3.3-10]', async () => {
      await begin(7, 1);
      await received.markDelivered(session, 7);
      expect(await begin(7, 2)).toEqual({ state: 'delivered', messageId: messageId(1) });
    });

    it('marks one packet id only', async () => {
      await begin(7, 1);
      await begin(8, 2);
      await received.markDelivered(session, 7);
      expect((await begin(8, 3)).state).toBe('pending');
    });

    it('marks twice as once, and does nothing for an id that is not known', async () => {
      await begin(7, 1);
      await received.markDelivered(session, 7);
      await received.markDelivered(session, 7);
      await received.markDelivered(session, 9);
      expect((await begin(7, 2)).state).toBe('delivered');
      expect((await begin(9, 3)).state).toBe('new');
    });

    it('takes a released packet id for a new message [MQTT-4.3.3-12]', async () => {
      await begin(7, 1);
      await received.markDelivered(session, 7);
      expect(await received.release(session, 7)).toBe(true);
      expect(await begin(7, 2)).toEqual({ state: 'new', messageId: messageId(2) });
    });

    it('releases a receipt that was never marked as delivered', async () => {
      await begin(7, 1);
      expect(await received.release(session, 7)).toBe(true);
      expect((await begin(7, 2)).state).toBe('new');
    });

    it('does not release an unknown packet id', async () => {
      expect(await received.release(session, 7)).toBe(false);
      await begin(7, 1);
      await received.release(session, 7);
      expect(await received.release(session, 7)).toBe(false);
    });

    it('takes as many unreleased ids as the maximum, and not one more [MQTT-3.3.4-7]', async () => {
      for (const packetId of [1, 2, 3]) expect((await begin(packetId, packetId)).state).toBe('new');
      expect((await begin(4, 4)).state).toBe('over-limit');
      // Resends of those that are known are none more.
      expect((await begin(1, 5)).state).toBe('pending');
      // The receipt over the limit was not noted.
      expect(await received.release(session, 4)).toBe(false);
      await received.release(session, 2);
      expect((await begin(4, 6)).state).toBe('new');
    });

    it('has room for a QoS 1 message beside them while there are fewer than the maximum, where it looks [MQTT-3.3.4-7]', async () => {
      expect(await received.hasRoom(session, 3)).toBe(true);
      for (const packetId of [1, 2, 3]) await begin(packetId, packetId);
      expect(await received.hasRoom(session, 4)).toBe(true);
      if (countsAreExact) expect(await received.hasRoom(session, 3)).toBe(false);
    });

    it('counts delivered ids until they are released', async () => {
      for (const packetId of [1, 2, 3]) {
        await begin(packetId, packetId);
        await received.markDelivered(session, packetId);
      }
      expect((await begin(4, 4)).state).toBe('over-limit');
    });

    it('takes the ids 1 and 65,535', async () => {
      await begin(1, 1);
      await begin(65_535, 2);
      expect(await begin(65_535, 3)).toEqual({ state: 'pending', messageId: messageId(2) });
    });

    it('keeps sessions apart', async () => {
      const other = await new Client(client.stores, client.tenant).open();
      await begin(7, 1);
      expect((await begin(7, 2, other.session)).state).toBe('new');
    });

    it('lives on in a session that continues [MQTT-4.1.0-1]', async () => {
      await begin(7, 1);
      await received.markDelivered(session, 7);
      await client.lose();
      expect((await begin(7, 2, await client.resume())).state).toBe('delivered');
    });

    it('takes a copy of the ref', async () => {
      await begin(7, 1, copyOf(session));
      expect((await begin(7, 2)).state).toBe('pending');
    });

    describe('clear', () => {
      it('forgets everything', async () => {
        await begin(7, 1);
        await received.clear(session);
        expect((await begin(7, 2)).state).toBe('new');
      });

      it('does nothing for a session that never sent QoS 2', async () => {
        await received.clear(session);
        expect((await begin(7, 1)).state).toBe('new');
      });

      it('forgets one incarnation only', async () => {
        await begin(7, 1);
        const { session: newer } = await client.open({ cleanStart: true });
        expect((await begin(7, 2, newer)).state).toBe('new');
        await received.clear(copyOf(session));
        expect((await begin(7, 3, newer)).state).toBe('pending');
      });
    });
  });
}
