import { describe, expect, it } from 'vitest';
import { LostConnections } from '../../src/connections/lost-connections.ts';
import { noCounts } from '../../src/fan-out/metrics.ts';
import { FanOutPosts, GatewayState } from '../../src/fan-out/posts.ts';
import { flush, sendAhead } from '../../src/frames/after.ts';
import { type Doings, environmentWhere, PACKET } from '../support/doings.ts';

describe('what is sent ahead of what waits', () => {
  it('ends its connection when it is lost, before anything joins the queue', async () => {
    const { environment, done } = environmentWhere('failed');
    environment.postbag.push('c', PACKET, true);
    await sendAhead(environment, 'c');
    expect(done).toEqual(['post c', 'delete c', 'end c']);
    await flush(environment);
    expect(done.filter((each) => each === 'post c')).toHaveLength(1);
  });

  it('ends its connection, once, when it was lost with what was sent ahead for another', async () => {
    const { environment, done } = environmentWhere('failed');
    for (const connectionId of ['c', 'other']) environment.postbag.push(connectionId, PACKET, true);
    await sendAhead(environment, 'other');
    expect(done).not.toContain('delete c');
    await sendAhead(environment, 'c');
    const ended = ['post c', 'delete c', 'end c'];
    expect(done.filter((each) => each.endsWith(' c'))).toEqual(ended);
    await sendAhead(environment, 'c');
    await flush(environment);
    expect(done.filter((each) => each.endsWith(' c'))).toEqual(ended);
  });

  it('leaves the connection alone when it has arrived, or was QoS 0', async () => {
    const arrived = environmentWhere('sent');
    arrived.environment.postbag.push('c', PACKET, true);
    await sendAhead(arrived.environment, 'c');
    expect(arrived.done).toEqual(['post c']);
    const dropped = environmentWhere('throttled');
    dropped.environment.postbag.push('c', PACKET, false);
    await sendAhead(dropped.environment, 'c');
    expect(dropped.done).toEqual(['post c']);
  });

  it.each([
    ['fails', false],
    ['has failed before', true],
  ])('waits in a worker until its connection is closed, when its post %s', async (_when, isBefore) => {
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const doings = environmentWhere('gone', () => isReleased);
    const { environment, done } = doings;
    const lost = new LostConnections(environment, () => true);
    const posts = carry(doings, lost);
    environment.postbag.push('c', PACKET, true);
    if (isBefore) {
      await environment.postbag.post();
      await posts.settle();
    }
    const ahead = sendAhead(environment, 'c').then(() => done.push('ahead'));
    // All that does not wait for the end has happened by then.
    await new Promise((resolve) => setImmediate(resolve));
    release();
    await ahead;
    expect(done).toEqual(['post c', 'end c', 'ahead']);
  });
});

/** Posts as a worker does. */
function carry({ environment, poster }: Doings, lost: LostConnections): FanOutPosts {
  const clock = { now: () => 0 };
  const options = { poster, clock, sleep: async () => {}, random: () => 0.5 };
  const posts = new FanOutPosts(options, new GatewayState(1_000_000), noCounts(), 1_000, lost);
  environment.postbag.carryBy(posts.carrier(() => {}));
  return posts;
}
