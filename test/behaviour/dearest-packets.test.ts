import { systemClock, TURN_MS_MAX } from '@apus/broker';
import { FILTERS_PER_PACKET_MAX } from '@apus/mqtt';
import { generate } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { notInACluster, onlyAt } from '../support/only-at.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { expectDisconnect, expectMessage, type Fields, usePeers } from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);
const OUR_CLOCK = notInACluster('its processes have clocks of their own');

/** Fewer than the packets of a turn that take no time. */
const COUNT = 200;

/** The time that each look at the clock takes: so long that no two packets have room in a turn. */
let lookMs = 0;
let lookedMs = 0;
const clock = {
  ...systemClock,
  steady() {
    lookedMs += lookMs;
    return systemClock.steady() + lookedMs;
  },
  after(delayMs: number, callback: () => void) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

const bytesOf = (packet: Fields) => generate(packet as never, { protocolVersion: 5 } as never);
const messageId = 1;

/** A packet of each type that a client may send again and again over one connection. */
const PACKETS: readonly Fields[] = [
  { cmd: 'publish', topic: 'of/nobody', payload: 'x', qos: 0 },
  { cmd: 'puback', messageId },
  { cmd: 'pubrec', messageId },
  { cmd: 'pubrel', messageId },
  { cmd: 'pubcomp', messageId },
  { cmd: 'subscribe', messageId, subscriptions: [{ topic: 'a/+', qos: 0 }] },
  { cmd: 'unsubscribe', messageId, unsubscriptions: ['a/+'] },
  { cmd: 'pingreq' },
];

ownDoor(`a client that sends packets that take long (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ clock } as object);

  it.each(PACKETS)(
    'as $cmd is served in turns: another one is answered before all of them are handled [SEC-WORK-5]',
    OUR_CLOCK,
    async (packet) => {
      const topic = unique('begun');
      const honest = await peers.subscriber(topic);
      const { client: greedy } = await peers.connect();
      const first = { cmd: 'publish', topic, payload: 'begun', qos: 0 };
      const last = { cmd: 'publish', topic: 'of/nobody', payload: 'x', qos: 1, messageId: 7 };
      const packets = [first, ...Array.from({ length: COUNT }, () => packet), last];
      lookMs = TURN_MS_MAX;
      try {
        greedy.sendBytes(Buffer.concat(packets.map(bytesOf)));
        await expectMessage(honest, 'begun');
        honest.send({ cmd: 'pingreq' });
        await honest.expect('pingresp');
        const answered = greedy.takeReceived().filter(({ cmd }) => cmd === 'puback');
        expect(answered).toEqual([]);
      } finally {
        lookMs = 0;
      }
      for (let cmd: unknown; cmd !== 'puback'; ) cmd = (await greedy.next()).cmd;
    },
  );
});

describe('a packet that is handled in one piece', () => {
  const peers = usePeers({});
  const filters = Array.from({ length: FILTERS_PER_PACKET_MAX + 1 }, (_, number) => `a/${number}`);

  it.each([
    { cmd: 'subscribe', messageId, subscriptions: filters.map((topic) => ({ topic, qos: 0 })) },
    { cmd: 'unsubscribe', messageId, unsubscriptions: filters },
  ])(
    'as $cmd has a limited number of filters, and ends the connection with one more [SEC-WORK-8]',
    onlyAt('node', 'a packet of so many filters is larger than the gateway door takes'),
    async (packet) => {
      const { client } = await peers.connect();
      client.send(packet);
      await expectDisconnect(client, 0x97);
    },
  );
});
