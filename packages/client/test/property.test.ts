import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { qosOf, typeOf } from '../src/packet.ts';
import * as PacketType from '../src/packet-type.ts';
import { Harness, type Packet, puback, publish, subscribe } from './support/harness.ts';

/** The next event at the library, the transport or the gateway. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('write' as const), bytes: fc.integer({ min: 1, max: 40_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('subscribe' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('reply' as const),
      taken: fc.option(fc.nat(5)),
      more: fc.boolean(),
      messages: fc.nat(3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('push' as const), messages: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('acknowledge' as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat(3_000) }) },
);

/** The gateway: takes frames one by one, answers when told to, and records the events that must happen. */
class Gateway {
  readonly #harness: Harness;
  #seen = 0;
  #outstanding: readonly Buffer[] | undefined;
  readonly handled: Buffer[] = [];
  readonly acknowledged: Buffer[] = [];
  inVain = 0;

  constructor(harness: Harness) {
    this.#harness = harness;
  }

  look(): void {
    for (const { replyWanted, packets } of this.#harness.gateway.frames.slice(this.#seen)) {
      this.#seen += 1;
      if (replyWanted) {
        expect(this.#outstanding).toBeUndefined();
        this.#outstanding = packets;
      } else {
        const types = packets.map(typeOf);
        const isAcknowledgements = types.every(
          (type) => type === PacketType.PUBACK || type === PacketType.PUBCOMP,
        );
        expect(isAcknowledgements || packets.every((packet) => qosOf(packet) === 0)).toBe(true);
        this.#handle(packets);
      }
    }
  }

  async reply(taken: number | null, more: boolean, packets: Packet[]): Promise<boolean> {
    this.look();
    const frame = this.#outstanding;
    if (frame === undefined) return false;
    this.#outstanding = undefined;
    const isPart = taken !== null && taken < frame.length;
    this.inVain = isPart && taken === 0 ? this.inVain + 1 : 0;
    // A fourth one in a row would end the connection.
    const count = isPart && this.inVain < 4 ? taken : frame.length;
    if (count === frame.length) this.inVain = 0;
    this.#handle(frame.slice(0, count));
    await this.#harness.reply(packets, { more, ...(count < frame.length ? { taken: count } : {}) });
    this.look();
    return true;
  }

  #handle(packets: readonly Buffer[]): void {
    for (const packet of packets) {
      const isAcknowledgement = typeOf(packet) === PacketType.PUBACK;
      (isAcknowledgement ? this.acknowledged : this.handled).push(packet);
    }
  }
}

test('no packet is lost, doubled or out of order, for any order of writes, answers and pushes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }),
      async (steps, cuts) => {
        const harness = new Harness();
        await harness.connect({ clean: false });
        const gateway = new Gateway(harness);
        const written: Buffer[] = [];
        const acknowledgements: Buffer[] = [];
        const replied: string[] = [];
        const pushed: string[] = [];
        let cut = 0;
        let serial = 0;
        const write = async (packet: Packet): Promise<void> => {
          const bytes = harness.bytes([packet]);
          for (let from = 0; from < bytes.length; ) {
            const size = cuts[cut++ % cuts.length] ?? 1;
            harness.socket.send(bytes.subarray(from, from + size));
            from += size;
          }
          if (bytes.length <= 24_573) (packet.cmd === 'puback' ? acknowledgements : written).push(bytes);
          await harness.clock.runDue();
          gateway.look();
        };
        const messages = (count: number, kind: string, into: string[]): Packet[] =>
          Array.from({ length: count }, () => {
            serial += 1;
            into.push(`${kind}${serial}`);
            return publish(`${kind}${serial}`);
          });
        for (const next of steps) {
          serial += 1;
          if (next.type === 'write')
            await write(publish(`w${serial}`, (serial % 2) as 0 | 1, serial, Buffer.alloc(next.bytes)));
          if (next.type === 'subscribe') await write(subscribe(`s${serial}`));
          if (next.type === 'acknowledge') await write(puback(serial));
          if (next.type === 'wait') await harness.clock.advance(next.ms);
          if (next.type === 'push') await harness.push(...messages(next.messages, 'p', pushed));
          if (next.type === 'reply') {
            const topics: string[] = [];
            const packets = messages(next.messages, 'r', topics);
            if (await gateway.reply(next.taken, next.more, packets)) replied.push(...topics);
          }
          gateway.look();
          if (harness.errors.includes('no-reply')) return;
        }
        for (let round = 0; round < 200; round += 1) {
          await gateway.reply(null, false, []);
          await harness.clock.advance(200);
          gateway.look();
        }
        expect(harness.errors.filter((code) => code !== 'packet-too-large')).toEqual([]);
        const hex = (packets: readonly Buffer[]): string[] => packets.map((packet) => packet.toString('hex'));
        expect(hex(gateway.handled).filter((packet) => packet !== 'c000')).toEqual(hex(written));
        expect(hex(gateway.acknowledged).sort()).toEqual(hex(acknowledgements).sort());
        const topics = harness.topics.filter((topic) => /^[rp]/.test(topic));
        expect(topics.filter((topic) => topic.startsWith('r'))).toEqual(replied);
        expect(topics.filter((topic) => topic.startsWith('p'))).toEqual(pushed);
      },
    ),
    { numRuns: runs(150) },
  );
}, 60_000);
