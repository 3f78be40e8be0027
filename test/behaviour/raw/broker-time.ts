import { unique } from '../../support/unique.ts';
import type { Peers } from './peers.ts';

/**
 * Waits until the broker's own clock has moved on by this many seconds: it is the time a delayed will takes.
 * An event with a deadline, and one that cannot come too early for the broker.
 */
export async function brokerTime(peers: Peers, seconds: number): Promise<void> {
  const topic = unique('clock');
  const watcher = await peers.subscriber(topic);
  const { client } = await peers.connect({
    properties: { sessionExpiryInterval: seconds + 60 },
    will: { topic, payload: 'now', qos: 0, retain: false, properties: { willDelayInterval: seconds } },
  });
  await client.vanish();
  await watcher.expect('publish');
}
