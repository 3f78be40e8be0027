import { describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import {
  connect,
  type Received,
  type Reply,
  subscribe,
  TextClient,
} from '../../../../test/support/text-client.ts';
import { startGateway } from '../support/gateway.ts';

/** Of each nine kilobytes two fit into a page. */
const PAYLOAD_BYTES = 9_000;

const session = (fields = {}) => ({
  clientId: 'subscriber',
  properties: { sessionExpiryInterval: 3600, ...fields },
});

/** The retained topics in the order in which they came. */
const topicsOf = (packets: readonly Received[]) =>
  packets.flatMap(({ cmd, topic }) => (cmd === 'publish' ? [String(topic)] : []));

const idsOf = (packets: readonly Received[]) =>
  packets.flatMap(({ cmd, messageId }) => (cmd === 'publish' ? [Number(messageId)] : []));

/** Fetches the remaining pages, and answers each one with the fetch of the next. */
async function fetchAll(client: TextClient, first: Reply, answer: 'puback' | 'pubrec'): Promise<Received[]> {
  const packets = [...first.packets];
  let last = first;
  while (last.more || idsOf(last.packets).length > 0) {
    const answers = idsOf(last.packets).map((messageId) => ({ cmd: answer, messageId }));
    last = await client.exchange(...answers);
    packets.push(...last.packets);
  }
  return packets;
}

describe('retained messages that need more than one page', () => {
  const retain = async (count: number, qos: 1 | 2, payloadBytes = PAYLOAD_BYTES) => {
    const gateway = await startGateway();
    for (let index = 0; index < count; index += 1)
      await gateway.publish(`r/${index}`, `${index}`.padEnd(payloadBytes, '.'), qos, true);
    return gateway;
  };
  const all = (count: number) => Array.from({ length: count }, (_, index) => `r/${index}`);

  it('come once where an acknowledgement without a reply is handled beside a fetch', async () => {
    const gateway = await retain(9, 2);
    const { client } = await TextClient.connect(gateway.url, session());
    const first = await client.exchange(subscribe('r/#', { qos: 2 }));
    const [messageId = 0] = idsOf(first.packets);
    const second = await client.exchange({ cmd: 'pubrec', messageId });
    client.send([{ cmd: 'pubcomp', messageId }], ',');
    client.sendText('.');
    const rest = await fetchAll(client, await client.replies.next(), 'pubrec');
    await gateway.emulator.quiet();
    expect(client.pushes.size).toBe(0);
    expect(topicsOf([...first.packets, ...second.packets, ...rest])).toEqual(all(9));
  });

  it('of a second filter are not forgotten by an acknowledgement that was handled meanwhile', async () => {
    let isDue = false;
    const [held, reached] = [gate(), gate()];
    const gateway = await startGateway({
      onStoreCall: (name) => {
        if (!isDue || name !== 'complete') return undefined;
        isDue = false;
        reached.open();
        return held.opened;
      },
    });
    for (let index = 0; index < 6; index += 1)
      await gateway.publish(`r/${index}`, `${index}`.padEnd(PAYLOAD_BYTES, '.'), 1, true);
    await gateway.publish('q/0', 'retained', 1, true);
    const { client } = await TextClient.connect(gateway.url, session());
    const first = await client.exchange(subscribe('r/#', { qos: 1 }));
    isDue = true;
    client.send([{ cmd: 'puback', messageId: idsOf(first.packets)[0] }], ',');
    await reached.opened;
    const second = await client.exchange(subscribe('q/#', { qos: 1, messageId: 77 }));
    held.open();
    await gateway.emulator.quiet();
    const rest = await fetchAll(client, await client.fetch(), 'puback');
    expect(client.pushes.size).toBe(0);
    const topics = topicsOf([...first.packets, ...second.packets, ...rest]);
    expect(topics.toSorted()).toEqual(['q/0', ...all(6)]);
  });

  it('that a fetch left waiting are dequeued by an acknowledgement that is handled before the fetch is saved', async () => {
    let isDue = false;
    const [saved, reached] = [gate(), gate()];
    const gateway = await startGateway({
      onStoreCall: (name) => {
        if (!isDue || name !== 'save') return undefined;
        isDue = false;
        reached.open();
        return saved.opened;
      },
    });
    for (const index of [0, 1]) await gateway.publish(`r/${index}`, ''.padEnd(22_500, '.'), 1, true);
    const { client } = await TextClient.connect(gateway.url, session({ receiveMaximum: 1 }));
    const first = await client.exchange(subscribe('r/#', { qos: 1 }));
    expect([topicsOf(first.packets), first.more]).toEqual([['r/0'], true]);
    isDue = true;
    client.sendText('.');
    await reached.opened;
    client.send([{ cmd: 'puback', messageId: idsOf(first.packets)[0] }], ',');
    expect(topicsOf((await client.pushes.next()).packets)).toEqual(['r/1']);
    saved.open();
    expect(await client.replies.next()).toMatchObject({ packets: [], more: false });
  });

  it('are announced as waiting where the window holds them back, and come as it empties', async () => {
    const gateway = await retain(40, 1, 10);
    const { client } = await TextClient.connect(gateway.url, session({ receiveMaximum: 2 }));
    const first = await client.exchange(subscribe('r/#', { qos: 1 }));
    expect(first.more).toBe(true);
    expect(topicsOf(first.packets)).toHaveLength(2);
    const rest = await fetchAll(client, first, 'puback');
    expect(topicsOf(rest).toSorted()).toEqual(all(40).toSorted());
    await gateway.emulator.quiet();
    expect(client.pushes.size).toBe(0);
  });
});

describe('a frame that wants no reply', () => {
  it('connects like any other', async () => {
    const gateway = await startGateway();
    const client = await TextClient.open(gateway.url);
    client.send([connect(session())], ',');
    expect((await client.pushes.next()).packets).toMatchObject([{ cmd: 'connack' }]);
    const { packets } = await client.exchange({ cmd: 'pingreq' });
    expect(packets).toMatchObject([{ cmd: 'pingresp' }]);
  });
});
