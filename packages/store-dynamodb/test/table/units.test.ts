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
    let clock: FakeClock;

    beforeEach(async () => {
      const fakeClock = new FakeClock();
      clock = fakeClock;
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

    it('CONNECT, ephemeral: 1 read, 2 writes', async () => {
      expect(await unitsOf(door.connect(name('a'), 'a'))).toEqual({ reads: 1, writes: 2 });
    });

    it('CONNECT of a persistent session: 1 read, 3 writes the first time', async () => {
      const connect = door.connect(name('a'), 'a', { cleanStart: false, expiry: 3600 });
      expect(await unitsOf(connect)).toEqual({ reads: 1, writes: 3 });
    });

    it('CONNECT of a session that continues: 4 reads and a write more, for what it holds, its record and what may wait', async () => {
      await persistent('a', ['warm']);
      await door.frame(name('a'), DISCONNECT);
      const connect = door.connect(name('b'), 'a', { cleanStart: false, expiry: 3600 });
      expect(await unitsOf(connect)).toEqual({ reads: 5, writes: 3 });
    });

    it('SUBSCRIBE: the connection twice; for each filter 1 read of what is retained, 2 writes', async () => {
      await ephemeral('a');
      expect(await unitsOf(door.subscribe(name('a'), ['f']))).toEqual({ reads: 2 + 1, writes: 2 });
      const three = await unitsOf(door.subscribe(name('a'), ['g', 'h', 'i']));
      expect(three).toEqual({ reads: 2 + 3, writes: 6 });
    });

    it('SUBSCRIBE that is repeated: 2 writes, and one more where it is not the same', async () => {
      await ephemeral('a', ['f']);
      expect(await unitsOf(door.subscribe(name('a'), ['f']))).toEqual({ reads: 2 + 1, writes: 2 });
      expect(await unitsOf(door.subscribe(name('a'), ['f'], 0))).toEqual({ reads: 2 + 1, writes: 3 });
    });

    it('SUBSCRIBE that finds something retained: a read of the record and one of the queue for each page', async () => {
      await ephemeral('a');
      await door.frame(name('a'), { ...publishOf('f', { qos: 1 }), retain: true } as Packet);
      const handled = door.subscribe(name('a'), ['f'], 0);
      expect(await unitsOf(handled)).toEqual({ reads: 2 + 1 + 2, writes: 2 });
    });

    it.each([0, 1] as const)('PUBLISH QoS %i, ephemeral: 1 + S reads, no write', async (qos) => {
      await ephemeral('publisher');
      await ephemeral('a', ['s/t']);
      await ephemeral('b', ['s/+', 's/t']);
      // `s/t`, `s/+` and `+/t/#` may match; `.` is a shape of one level.
      const handled = await door.frame(name('publisher'), publishOf('s/t', { qos }));
      expect(handled.units).toEqual({ reads: 1 + 3, writes: 0, calls: 1 });
      const recipients = door.published.at(-1)?.deliveries.map(({ session }) => session.clientId);
      expect(recipients?.sort()).toEqual(['a', 'b']);
    });

    it('PUBLISH, a hundred of one topic in a frame: no more than one', async () => {
      await ephemeral('publisher');
      await ephemeral('a', ['s/+']);
      const frame = Array.from({ length: 100 }, () => publishOf('s/t'));
      expect(await unitsOf(door.frame(name('publisher'), ...frame))).toEqual({ reads: 1 + 3, writes: 0 });
    });

    it('PUBLISH to a persistent session that is online: 1 read, its record, and 1 write more; 3 reads the first time', async () => {
      await ephemeral('publisher');
      await persistent('a', ['s/+']);
      const publish = async () => await unitsOf(door.frame(name('publisher'), publishOf('s/t', { qos: 1 })));
      // No record; the session item, before the first record is written and after it.
      expect(await publish()).toEqual({ reads: 1 + 3 + 3, writes: 1 });
      expect(await publish()).toEqual({ reads: 1 + 3 + 1, writes: 1 });
    });

    it('PUBLISH, ten to a persistent session in a frame: no more reads than one, 1 to 3 writes for each as the record grows', async () => {
      await ephemeral('publisher');
      await persistent('a', ['s/+']);
      await door.frame(name('publisher'), publishOf('s/t', { qos: 1 }));
      const frame = Array.from({ length: 10 }, () => publishOf('s/t', { qos: 1 }));
      const { reads, writes } = await unitsOf(door.frame(name('publisher'), ...frame));
      expect(reads).toBe(1 + 3 + 1);
      expect(writes).toBeLessThanOrEqual(3 * 8);
    });

    it('PUBLISH to a persistent session that is offline: 3 reads and 1 write more; 5 reads where it has no record', async () => {
      await ephemeral('publisher');
      const publish = async () => await unitsOf(door.frame(name('publisher'), publishOf('s/t', { qos: 1 })));
      await persistent('a', ['s/+']);
      await door.frame(name('a'), DISCONNECT);
      // The record is looked for by the match and after the append, and the session item each time; the end of the queue.
      expect(await publish()).toEqual({ reads: 1 + 3 + 5, writes: 1 });
      await door.connect(name('b'), 'a', { cleanStart: false, expiry: 3600 });
      await door.frame(name('b'), DISCONNECT);
      expect(await publish()).toEqual({ reads: 1 + 3 + 3, writes: 1 });
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
      const answers = (packetId: number): Packet[] =>
        (['pubrec', 'pubcomp'] as const).map((type) => ({ type, packetId, reasonCode: 0, properties: {} }));

      it('to a persistent session that is online: 1 write, of the record', async () => {
        expect(await publishTo(true)).toEqual({ reads: 1 + 3 + 1, writes: 2 + 1 });
      });

      it('to a persistent session that is offline: 1 write, of the log, and 2 reads more, of the queue and of the record once more', async () => {
        expect(await publishTo(false)).toEqual({ reads: 1 + 3 + 3, writes: 2 + 1 });
      });

      it('PUBREC and PUBCOMP, each alone in its frame: the connection, and 1 write that reads nothing', async () => {
        await publishTo(true);
        const [packetId = 0] = (door.published.at(-1)?.deliveries ?? []).map((each) => each.packetId);
        for (const packet of answers(packetId)) {
          expect(await unitsOf(door.frame(name('a'), packet))).toEqual({ reads: 1, writes: 1 });
        }
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

    describe('a queue of forty messages at QoS 1', () => {
      const QUEUED = 40;
      const returned = async () => {
        await ephemeral('publisher');
        await persistent('a', ['s/+']);
        await door.frame(name('a'), DISCONNECT);
        for (let count = 0; count < QUEUED; count += 1)
          await door.frame(name('publisher'), publishOf('s/t', { qos: 1 }));
        const units = await unitsOf(door.connect(name('b'), 'a', { cleanStart: false, expiry: 3600 }));
        const dequeued = door.published.slice(-QUEUED).map(({ deliveries }) => deliveries[0]?.packetId ?? 0);
        return { units, dequeued };
      };

      it('CONNECT: 1 write for each page of 32, of the record; the dequeued messages are read with each page, and by the last look', async () => {
        const { units } = await returned();
        // Forty items of 290 bytes are three units; the record is read before each page, and once more.
        expect(units).toEqual({ reads: 2 + 3 * 3 + 3, writes: 2 + 2 });
      });

      it('their PUBACKs in one frame: 1 write for each, of the queue, and 1 of the record', async () => {
        const { dequeued } = await returned();
        const units = await unitsOf(door.frame(name('b'), ...dequeued.map(PUBACK)));
        expect(units).toEqual({ reads: 1 + 1, writes: QUEUED + 1 });
        await door.frame(name('publisher'), publishOf('s/t', { qos: 1 }));
        expect(door.published.at(-1)?.deliveries[0]?.packetId).toBeGreaterThan(0);
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

    it('PUBACK of a persistent session, alone in its frame: the connection, and 1 write that reads nothing', async () => {
      await ephemeral('publisher');
      await persistent('a', ['s/+']);
      await door.frame(name('publisher'), publishOf('s/t', { qos: 1 }));
      const [delivery] = door.published.at(-1)?.deliveries ?? [];
      expect(await unitsOf(door.frame(name('a'), PUBACK(delivery?.packetId ?? 0)))).toEqual({
        reads: 1,
        writes: 1,
      });
    });

    it('several in a frame: the connection and the record once, and 1 write for all', async () => {
      await ephemeral('publisher');
      await persistent('a', ['s/+']);
      for (let count = 0; count < 3; count += 1) {
        await door.frame(name('publisher'), publishOf('s/t', { qos: 1 }));
      }
      const ids = door.published.slice(-3).map(({ deliveries }) => deliveries[0]?.packetId ?? 0);
      expect(await unitsOf(door.frame(name('a'), ...ids.map(PUBACK)))).toEqual({ reads: 2, writes: 1 });
    });

    it('DISCONNECT, ephemeral with two filters: 3 reads; 3 writes and 1 for each filter', async () => {
      await ephemeral('a', ['f', 'g']);
      expect(await unitsOf(door.frame(name('a'), DISCONNECT))).toEqual({ reads: 3, writes: 3 + 2 });
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

      it('that is due: a write to begin it and one to be done with it; reads of its match, and of the session', async () => {
        await connect('a', { will: WILL });
        await door.lose(name('a'));
        clock.nowMs += 10_000;
        expect(await door.ringWill(name('a'), name('mortal'))).toMatchObject({ reads: 1 + 2, writes: 2 });
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
