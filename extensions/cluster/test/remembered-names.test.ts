import type { Broker, Subscriber } from '@apus/broker';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ClusterFanOut } from '../src/fan-out.ts';
import type { PublishFrame } from '../src/frames.ts';
import { Relay } from '../src/relay.ts';
import { rememberedName } from '../src/route-name.ts';
import { ShareChoice } from '../src/share-choice.ts';

const LONG = 'x'.repeat(60_000);

const CONNECTED = new Map([
  ['b', true],
  ['c', true],
]);

/** The lengths of the texts that are the keys of what the work sets in maps. */
function lengthsOf(work: () => void): number[] {
  const spy = vi.spyOn(Map.prototype, 'set');
  onTestFinished(() => spy.mockRestore());
  work();
  const keys = spy.mock.calls.map(([key]) => key);
  spy.mockRestore();
  return keys.flatMap((key) => (typeof key === 'string' ? key.length : []));
}

test('a short name is remembered as it is, and a long one by a hash that no other name has [SEC-GROWTH-4]', () => {
  expect(rememberedName('$share/g/a/b')).toBe('$share/g/a/b');
  const [one, other] = [rememberedName(`${LONG}x`), rememberedName(`${LONG}y`)];
  expect(one).not.toBe(other);
  expect(one.length).toBeLessThan(50);
});

test('the turns of a share group with a long name are remembered by its hash [SEC-GROWTH-4]', () => {
  const choice = new ShareChoice();
  const here = [{ session: { attachment: {} } }] as unknown as readonly Subscriber[];
  const name = { topicFilter: 't', shareGroup: LONG };
  const lengths = lengthsOf(() => {
    choice.isHere('tenant', name, CONNECTED, here);
    choice.choose('tenant', name, CONNECTED);
  });
  expect(lengths.length).toBe(2);
  expect(Math.max(...lengths)).toBeLessThan(50);
});

test('a QoS 2 message for share groups with long names is remembered by a hash, and delivered once [SEC-GROWTH-4]', () => {
  const relay = new Relay({ match: () => [] } as never, {} as ClusterFanOut, () => undefined);
  const relayed: unknown[] = [];
  const broker = { relay: (...call: unknown[]) => void relayed.push(call) } as unknown as Broker;
  const groups = [`$share/${LONG}/t`];
  const frame = { tenant: 't', message: { id: '1', qos: 2, topic: 't' }, isPlain: true, groups, hops: 9 };
  const publish = (of: object) => relay.publish(broker, 'b', { ...frame, ...of } as unknown as PublishFrame);
  for (const of of [{}, {}, { groups: [`$share/${LONG}x/t`] }]) publish(of);
  expect(relayed.length).toBe(2);
  const lengths = lengthsOf(() => publish({ message: { ...frame.message, id: '2' } }));
  expect(lengths[0]).toBeLessThan(50);
});
