// A process of `many.ts`: holds connections, each with a subscription of its own, and reconnects those that are lost.
import { openBinaryWire } from '../../../loadtest/src/generator/binary-wire.ts';
import { PacketReader } from '../../../loadtest/src/generator/packet-reader.ts';
import {
  acknowledgement,
  connectPacket,
  PacketType,
  subscribePacket,
} from '../../../loadtest/src/generator/packets.ts';
import { FrameTotals, type Wire } from '../../../loadtest/src/generator/wire.ts';

/** Clients `first` to `end`, each of which subscribes to `c/NUMBER`. */
export interface HoldOrder {
  readonly first: number;
  readonly end: number;
  readonly perSecond: number;
  readonly urls: readonly string[];
  readonly addresses: readonly string[];
}

export interface HoldProgress {
  readonly ready: number;
  readonly received: number;
  readonly lost: number;
}

const frames = new FrameTotals();
const TICK_MS = 20;
/** Handshakes at a time: more would only wait in the broker's backlog. */
const CONNECTING_MAX = 200;
const TELL_MS = 200;

let ready = 0;
let received = 0;
let lost = 0;
let connecting = 0;
/** Clients that wait to be connected, oldest first. */
const waiting: number[] = [];
/** The process to which the next client reconnects. */
const attempts = new Map<number, number>();

process.on('message', (order: HoldOrder) => {
  for (let client = order.first; client < order.end; client += 1) waiting.push(client);
  let allowance = 0;
  setInterval(() => {
    allowance = Math.min(allowance + (order.perSecond * TICK_MS) / 1000, order.perSecond);
    while (allowance >= 1 && connecting < CONNECTING_MAX && waiting.length > 0) {
      allowance -= 1;
      connect(order, waiting.shift() ?? 0);
    }
  }, TICK_MS);
  setInterval(() => process.send?.({ ready, received, lost } satisfies HoldProgress), TELL_MS);
});
process.on('disconnect', () => process.exit(0));

function connect({ urls, addresses }: HoldOrder, client: number): void {
  const attempt = attempts.get(client) ?? 0;
  const url = urls[(client + attempt) % urls.length] ?? '';
  const localAddress = addresses[client % addresses.length];
  const reader = new PacketReader();
  let isReady = false;
  let isOver = false;
  connecting += 1;
  const wire: Wire = openBinaryWire(
    { url, localAddress, frames },
    {
      open() {
        const fields = { version: '5', clientId: `hold-${client}`, cleanStart: true } as const;
        wire.send(connectPacket({ ...fields, keepAliveSeconds: 0, sessionExpirySeconds: 0 }));
      },
      bytes(data) {
        for (const { type, bytes, bodyAt } of reader.push(data)) {
          if (type === PacketType.CONNACK) {
            if ((bytes[bodyAt + 1] ?? 0) >= 0x80) wire.close();
            else wire.send(subscribePacket('5', 1, [`c/${client}`], 1));
          } else if (type === PacketType.SUBACK) {
            isReady = true;
            connecting -= 1;
            ready += 1;
          } else if (type === PacketType.PUBLISH) {
            received += 1;
            const topicBytes = bytes.readUInt16BE(bodyAt);
            if (((bytes[0] ?? 0) & 0x06) !== 0)
              wire.send(acknowledgement(PacketType.PUBACK, bytes.readUInt16BE(bodyAt + 2 + topicBytes)));
          }
        }
      },
      closed() {
        if (isOver) return;
        isOver = true;
        if (isReady) {
          ready -= 1;
          lost += 1;
        } else connecting -= 1;
        attempts.set(client, attempt + 1);
        waiting.push(client);
      },
    },
  );
}
