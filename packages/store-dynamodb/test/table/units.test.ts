import type { Packet } from '@apus/mqtt';
import { beforeEach, describe, expect, it } from 'vitest';
import { Door, publishOf } from '../support/door.ts';
import { FakeClock, withService } from '../support/stores.ts';

let tenants = 0;

const DISCONNECT: Packet = { type: 'disconnect', reasonCode: 0, properties: {} };
const PUBACK = (packetId: number): Packet => ({ type: 'puback', packetId, reasonCode: 0, properties: {} });

// Read and write units of whole frames, by the broker itself: the table of loadtest/results/operations.md.
await withService((service) => {
  describe('units that a frame consumes', () => {
    let door: Door;

    beforeEach(async () => {
      const fakeClock = new FakeClock();
      tenants += 1;
      // No sample is drawn: the writes of the sampled numbers are one in sixty-four.
      door = new Door(service.make({ fakeClock, random: () => 0.99 }), `tenant-${tenants}`, fakeClock.now);
      // Makes the reads that a process makes once a minute or once in its life: the numbers and the shapes.
      await door.connect(name('warm'), 'warm');
      await door.subscribe(name('warm'), ['warm/+', 'warm', 'warm/warm', '+/warm/#']);
      fakeClock.nowMs += 10_000;
      await door.frame(name('warm'), publishOf('warm-up'));
    });

    const name = (suffix: string) => `${door.tenant}-${suffix}`;
    const unitsOf = async (handled: Promise<{ units: { reads: number; writes: number } }>) => {
      const { reads, writes } = (await handled).units;
      return { reads, writes };
    };
    const ephemeral = async (suffix: string, filters: readonly string[] = []) => {
      await door.connect(name(suffix), suffix);
      if (filters.length > 0) await door.subscribe(name(suffix), filters);
    };
    const persistent = async (suffix: string, filters: readonly string[]) => {
      await door.connect(name(suffix), suffix, { cleanStart: false, expiry: 3600 });
      await door.subscribe(name(suffix), filters);
    };

    it('SUBSCRIBE that is repeated: 2 writes, and one more where it is not the same', async () => {
      await ephemeral('a', ['f']);
      expect(await unitsOf(door.subscribe(name('a'), ['f']))).toEqual({ reads: 2 + 1, writes: 2 });
      expect(await unitsOf(door.subscribe(name('a'), ['f'], 0))).toEqual({ reads: 2 + 1, writes: 3 });
    });

    describe('QoS 2', () => {
      /** A client that is there, or away, and a frame that publishes to it; its publisher's receipt is 2 writes. */
      const publishTo = async (isOnline: boolean) => {
        await ephemeral('publisher');
        await door.connect(name('a'), 'a', { cleanStart: false, expiry: 3600 });
        await door.subscribe(name('a'), ['s/+'], 2);
        // From the first one on it has a record.
        await door.frame(name('publisher'), publishOf('s/t', { qos: 1 }));
        const [first = 0] = (door.published.at(-1)?.deliveries ?? []).map((each) => each.packetId);
        await door.frame(name('a'), PUBACK(first));
        if (!isOnline) await door.frame(name('a'), DISCONNECT);
        return await unitsOf(door.frame(name('publisher'), publishOf('s/t', { qos: 2 })));
      };

      it('to a persistent session that is online: 1 write, of the record', async () => {
        expect(await publishTo(true)).toEqual({ reads: 1 + 3 + 1, writes: 2 + 1 });
      });

      it('to a persistent session that is offline: 1 write, of the log, and 2 reads more, of the queue and of the record once more', async () => {
        expect(await publishTo(false)).toEqual({ reads: 1 + 3 + 3, writes: 2 + 1 });
      });

      describe('the receipts of a publisher: its PUBLISH and its PUBREL', () => {
        const publishes = (from: number, count: number) =>
          Array.from({ length: count }, (_, index) => publishOf('s/t', { qos: 2, packetId: from + index }));
        const PUBREL = (packetId: number): Packet => ({
          type: 'pubrel',
          packetId,
          reasonCode: 0,
          properties: {},
        });
        const oneMore = async (outstanding: number) => {
          await ephemeral('publisher');
          await ephemeral('a', ['s/+']);
          if (outstanding > 0) await door.frame(name('publisher'), ...publishes(1, outstanding));
          const publish = await unitsOf(door.frame(name('publisher'), ...publishes(1_000, 1)));
          const release = await unitsOf(door.frame(name('publisher'), PUBREL(1_000)));
          return { publish: publish.writes, release };
        };

        it('2 writes and 1, one after the other', async () => {
          expect(await oneMore(0)).toEqual({ publish: 2, release: { reads: 1, writes: 1 } });
        });

        it('16 writes and 8 where 200 are outstanding, as all of them are one item', async () => {
          expect(await oneMore(200)).toEqual({ publish: 2 * 8, release: { reads: 1, writes: 8 } });
        });
      });

      it('CONNECT that dequeues what waits: no write for each message, and a read to find that nothing is left', async () => {
        await publishTo(false);
        const connect = await unitsOf(door.connect(name('b'), 'a', { cleanStart: false, expiry: 3600 }));
        expect(connect).toEqual({ reads: 5 + 1, writes: 3 });
      });
    });

    it('PUBLISH of 10 KB to eight persistent sessions: its body once, and a reference for each', async () => {
      await ephemeral('publisher');
      for (let index = 0; index < 8; index += 1) await persistent(`p${index}`, ['s/+']);
      const large = publishOf('s/t', { qos: 1, payload: 'x'.repeat(10_000) });
      await door.frame(name('publisher'), publishOf('s/t', { qos: 1 }));
      const publish = door.frame(name('publisher'), large);
      expect(await unitsOf(publish)).toEqual({ reads: 1 + 3 + 8, writes: 10 + 8 });
    });

    describe('a will', () => {
      const WILL = {
        topic: 'w',
        payload: Buffer.from('gone'),
        qos: 1,
        retain: false,
        properties: {},
      } as const;
      const kept = { cleanStart: false, expiry: 3_600 };
      const connect = async (connectionId: string, fields = {}) =>
        await unitsOf(door.connect(name(connectionId), name('mortal'), { ...kept, ...fields }));

      it('comes with CONNECT and goes with DISCONNECT at no cost of its own', async () => {
        expect(await connect('a', { will: WILL })).toEqual({ reads: 1, writes: 3 });
        // The session, its record and the connection.
        expect(await unitsOf(door.frame(name('a'), DISCONNECT))).toEqual({ reads: 1, writes: 3 });
      });

      it('that is withdrawn by a client that is back: 1 write, as it was not expected', async () => {
        await connect('a', { will: WILL });
        expect(await door.lose(name('a'))).toMatchObject({ reads: 0, writes: 3 });
        expect(await connect('b', { will: WILL })).toEqual({ reads: 5, writes: 3 + 1 });
      });

      it('of a connection that is taken over: that write, 1 to end the connection, 2 to begin it and 2 to be done with it', async () => {
        await connect('a', { will: WILL });
        // A read finds no subscriber to the will.
        expect(await connect('b')).toEqual({ reads: 5 + 1, writes: 3 + 6 });
      });
    });

    it('DISCONNECT where it is known how long a connection can live: its list is left to TTL', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock, random: () => 0.99, connectionSecondsMax: 7_200 });
      door = new Door(stores, door.tenant, fakeClock.now);
      await ephemeral('a', ['f', 'g']);
      expect(await unitsOf(door.frame(name('a'), DISCONNECT))).toEqual({ reads: 3, writes: 2 + 2 });
    });
  });
});
