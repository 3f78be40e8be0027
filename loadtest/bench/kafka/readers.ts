/*
 * The subscribers of a measurement, in a process of their own: as many WebSocket connections as asked, each with one
 * filter. Its parent asks by messages, and gets the number of messages that have come with their latencies.
 */
import { WebSocket } from 'ws';
import { PacketReader, placesOf } from '../../src/generator/packet-reader.ts';
import { connectPacket, PacketType, subscribePacket } from '../../src/generator/packets.ts';
import { Latencies, microsBetween, monotonicMicros } from '../../src/measure/index.ts';

/** The offset in the payload of the time at which the producer got the record, in microseconds. */
const STAMP_BYTES = 6;
const CONNECTING_MAX = 50;

export interface ReadersOrder {
  readonly url: string;
  /** One for each subscriber. */
  readonly filters: readonly string[];
}

export interface ReadersCount {
  readonly count: number;
  readonly latencies: string;
  readonly lastMicros: number;
}

let count = 0;
let lastMicros = 0;
let latencies = new Latencies();

process.on('message', (order: ReadersOrder | 'count' | 'forget') => {
  if (order === 'forget') {
    [count, latencies] = [0, new Latencies()];
    process.send?.('forgotten');
  } else if (order === 'count') {
    const answer: ReadersCount = { count, lastMicros, latencies: latencies.encode() };
    process.send?.(answer);
  } else {
    subscribeAll(order).then(
      () => process.send?.('ready'),
      (error: unknown) => {
        throw error;
      },
    );
  }
});

async function subscribeAll({ url, filters }: ReadersOrder): Promise<void> {
  for (let from = 0; from < filters.length; from += CONNECTING_MAX) {
    const some = filters.slice(from, from + CONNECTING_MAX);
    await Promise.all(some.map((filter, index) => subscribe(url, filter, `reader-${from + index}`)));
  }
}

function subscribe(url: string, filter: string, clientId: string): Promise<void> {
  const socket = new WebSocket(url, 'mqtt', { perMessageDeflate: false });
  const reader = new PacketReader();
  const connect = {
    version: '5',
    clientId,
    cleanStart: true,
    keepAliveSeconds: 0,
    sessionExpirySeconds: 0,
  } as const;
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send(connectPacket(connect)));
    socket.on('message', (data: Buffer) => {
      for (const packet of reader.push(data)) {
        if (packet.type === PacketType.PUBLISH) taken(packet.bytes, placesOf(packet, true).payloadAt);
        else if (packet.type === PacketType.CONNACK) socket.send(subscribePacket('5', 1, [filter], 0));
        else if (packet.type === PacketType.SUBACK) resolve();
      }
    });
  });
}

function taken(bytes: Buffer, payloadAt: number): void {
  lastMicros = monotonicMicros();
  count += 1;
  latencies.record(microsBetween(bytes.readUIntBE(payloadAt, STAMP_BYTES), lastMicros));
}
