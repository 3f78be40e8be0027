import type { Packet, UserProperties } from '@apus/mqtt';
import { MemoryStreams } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';
import { readStreams, STABLE_AFTER_MS, type StreamStore, type Subscription } from '../src/index.ts';
import { FakeDoor, FakeLink } from './support/fake-door.ts';

const TOPIC = 's/a';

const declared = readStreams([{ name: 's', topicFilter: 's/#', messagesMax: 1000 }], 'streams');

/** A connection of a door that keeps nothing between two packets. */
class PassingLink extends FakeLink {
  override readonly readers = undefined as unknown as Map<string, Subscription>;
  readonly pastRoom = { messages: 5, bytes: 10_000, positionBytes: 10_000 };
}

function doorOver(store: StreamStore): FakeDoor {
  return new FakeDoor({
    streams: { declared, store, isShared: true },
    openLink: (id) => new PassingLink(id),
  });
}

const subscribe = (door: FakeDoor, link: FakeLink, userProperties: UserProperties) =>
  door.subscribe(link, TOPIC, 0, { properties: { userProperties } });

function property(packet: Packet, name: string): string | undefined {
  const { userProperties } = ('properties' in packet ? packet.properties : {}) as {
    userProperties?: UserProperties;
  };
  return userProperties?.find(([each]) => each === name)?.[1];
}

/** The payloads of messages, with their kinds. */
function messages(packets: readonly Packet[]): string[] {
  return packets.flatMap((packet) =>
    packet.type === 'publish'
      ? [[Buffer.from(packet.payload), property(packet, 'stream-kind') ?? 'live'].join(' ')]
      : [],
  );
}

const recovered = ([suback]: readonly Packet[]) => suback && property(suback, 'stream-recovered');

describe('A reader behind a door that keeps nothing', () => {
  it('is sent a message that was appended before it subscribed and matched after', async () => {
    const store = new MemoryStreams();
    let meanwhile = async (): Promise<void> => {};
    const append = store.append.bind(store);
    const interrupted: StreamStore = Object.assign(store, {
      append: async (...call: Parameters<typeof append>) => {
        await meanwhile();
        return append(...call);
      },
    });
    const door = doorOver(interrupted);
    const [publisher, reader] = [await door.connect(), await door.connect()];
    reader.take();
    meanwhile = async () => await subscribe(door, reader, [['stream-offset', 'latest']]);
    await door.publish(publisher, TOPIC, '1', { qos: 1 });
    expect(messages(reader.take())).toEqual(['1 live']);
  });

  it('is sent all of the past behind SUBACK, then live messages', async () => {
    const door = doorOver(new MemoryStreams());
    const [publisher, reader] = [await door.connect(), await door.connect()];
    reader.take();
    for (const each of ['1', '2', '3']) await door.publish(publisher, TOPIC, each);
    await subscribe(door, reader, [['rewind', '2']]);
    await door.publish(publisher, TOPIC, '4');
    const packets = reader.take();
    expect(recovered(packets)).toBe('true');
    expect(messages(packets)).toEqual(['2 historical', '3 historical', '4 live']);
  });

  it('is sent the newest messages where it asks for more than fits, and told so', async () => {
    const door = doorOver(new MemoryStreams());
    const [publisher, reader] = [await door.connect(), await door.connect()];
    reader.take();
    for (let each = 1; each <= 7; each += 1) await door.publish(publisher, TOPIC, String(each));
    await subscribe(door, reader, [['rewind', '6']]);
    const packets = reader.take();
    expect(recovered(packets)).toBe('false');
    expect(messages(packets)).toEqual(['3', '4', '5', '6', '7'].map((each) => `${each} historical`));
  });

  it.each([
    ['messages', 7, 1],
    ['bytes', 4, 3000],
  ])('is sent only the last message where more missing %s would not fit', async (_, count, length) => {
    const door = doorOver(new MemoryStreams());
    const [publisher, reader, other] = [await door.connect(), await door.connect(), await door.connect()];
    reader.take();
    other.take();
    await subscribe(door, other, [['stream-offset', 'latest']]);
    const [suback] = other.take();
    const position = (suback && property(suback, 'stream-position')) ?? '';
    for (let each = 1; each <= count; each += 1)
      await door.publish(publisher, TOPIC, String(each).padStart(length, '0'));
    await subscribe(door, reader, [['stream-position', position]]);
    const packets = reader.take();
    expect(recovered(packets)).toBe('false');
    expect(messages(packets)).toEqual([`${String(count).padStart(length, '0')} snapshot`]);
  });

  it('is sent again messages that may have been in flight when it saw its last message', async () => {
    const store = new MemoryStreams();
    store.stableAfterMs = STABLE_AFTER_MS;
    const door = doorOver(store);
    const [publisher, reader] = [await door.connect(), await door.connect()];
    await door.publish(publisher, TOPIC, '1');
    await door.advance(STABLE_AFTER_MS / 1000);
    for (const each of ['2', '3', '4']) await door.publish(publisher, TOPIC, each);
    await subscribe(door, reader, [['rewind', '1']]);
    const [last] = reader.take().slice(-1);
    const position = (last && property(last, 'stream-position')) ?? '';
    expect(position).toMatch(/-4-1$/);
    await subscribe(door, reader, [['stream-position', position]]);
    expect(messages(reader.take())).toEqual(['2 recovered', '3 recovered', '4 recovered']);
  });

  it('is sent nothing on another connection of its session before it subscribes there', async () => {
    const door = doorOver(new MemoryStreams());
    const lasting = { clientId: 'r', cleanStart: false, properties: { sessionExpiryInterval: 60 } };
    const [publisher, before] = [await door.connect(), await door.connect(lasting)];
    await subscribe(door, before, [['stream-offset', 'latest']]);
    await door.cut(before);
    const after = await door.connect(lasting);
    after.take();
    await door.publish(publisher, TOPIC, '1');
    expect(messages(after.take())).toEqual([]);
    await subscribe(door, after, [['stream-offset', 'earliest']]);
    expect(messages(after.take())).toEqual(['1 historical']);
  });

  it('has a session that the transport does not resume without telling it', async () => {
    const door = doorOver(new MemoryStreams());
    const reader = await door.connect();
    await subscribe(door, reader, [['stream-offset', 'latest']]);
    expect(reader.state).toMatchObject({ isReading: true, connection: { resumeSeconds: 0 } });
  });

  it.each([
    [1, 'puback'],
    [2, 'pubrec'],
  ] as const)(
    'is not sent a message that its log refuses: the publisher gets 0x97 at QoS %i',
    async (qos, type) => {
      const store: StreamStore = Object.assign(new MemoryStreams(), { append: () => 'contended' as const });
      const door = doorOver(store);
      const [publisher, reader] = [await door.connect(), await door.connect()];
      await subscribe(door, reader, [['stream-offset', 'latest']]);
      publisher.take();
      reader.take();
      await door.publish(publisher, TOPIC, '1', { qos });
      expect(publisher.take()).toMatchObject([{ type, reasonCode: 0x97 }]);
      expect(reader.take()).toEqual([]);
    },
  );
});
