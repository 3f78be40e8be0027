import type { Delivery, Message, Routed } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { LostConnections } from '../src/connections/lost-connections.ts';
import { noCounts } from '../src/fan-out/metrics.ts';
import { FanOutPosts, GatewayState } from '../src/fan-out/posts.ts';
import type { MakeBroker } from '../src/index.ts';
import { Outbox } from '../src/outbox.ts';
import type { PostOutcome } from '../src/posts/poster.ts';
import { type Doings, environmentWhere, PACKET, silent } from './support/doings.ts';

const SOMETHING: Routed = { message: {} as Message, deliveries: [] as Delivery[], passes: 1 };

/** Offers that come to this: a packet for `c`, and something that waits for it. */
const offered = (
  outcome: PostOutcome,
  beforeEnd?: (connectionId: string) => Promise<void>,
  uncertain = 'none',
) => {
  const doings = environmentWhere(outcome, beforeEnd);
  const { environment, done } = doings;
  const makeBroker: MakeBroker = (outbox, kind) => {
    const made = environment.makeBroker(outbox, kind);
    const deliverAll = () => {
      done.push('decide');
      outbox.posts.push('c', PACKET, true);
      return {
        sorted: [],
        offered: undefined,
        uncertain: uncertain === 'none' ? [] : [uncertain],
        waiting: ['c'],
      };
    };
    const append = () => {
      done.push('append');
      return { uncertain: [], unannounced: ['slow'] };
    };
    return { ...made, broker: { ...made.broker, deliverAll, append } };
  };
  return { ...doings, environment: { ...environment, makeBroker } };
};

describe('the effects of an event', () => {
  it('are decided, posted, appended and announced, and then count as done', async () => {
    const { environment, done } = offered('sent');
    const outbox = new Outbox(environment);
    outbox.add(SOMETHING);
    outbox.whenLeft(() => void done.push('done'));
    expect(done).toEqual([]);
    await outbox.commit();
    expect(done).toEqual(['decide', 'post c', 'append', 'post slow', 'done']);
    await outbox.commit();
    expect(done).toHaveLength(5);
  });

  it('count as done when all that the event has found in a look has left, too', async () => {
    const { environment, done } = environmentWhere('sent');
    const outbox = new Outbox(environment);
    outbox.whenLeft(() => void done.push('done'));
    const found = ['changed', 'changed again'];
    const look = (): void => {
      const next = found.shift();
      done.push('look');
      if (next === undefined) return;
      outbox.posts.push(next, PACKET, true);
      outbox.look(look);
    };
    outbox.look(look);
    await outbox.commit();
    expect(done).toEqual(['look', 'post changed', 'look', 'post changed again', 'look', 'done']);
  });

  it('end a connection that missed a message before a message is appended for it', async () => {
    const { environment, done } = offered('failed');
    const outbox = new Outbox(environment);
    outbox.add(SOMETHING);
    await outbox.commit();
    expect(done).toEqual(['decide', 'post c', 'delete c', 'end c', 'append', 'post slow']);
  });

  it('leave before a newer message of the same topic is retained', async () => {
    const { environment, done } = offered('sent');
    const outbox = new Outbox(environment);
    outbox.add({ ...SOMETHING, message: { topic: 'state' } as Message });
    await outbox.flush('another');
    expect(done).toEqual([]);
    await outbox.flush('state');
    expect(done).toEqual(['decide', 'post c', 'append', 'post slow']);
  });

  it('end a connection whose delivery state is unknown, once, before a message is appended', async () => {
    const { environment, done } = offered('sent', undefined, 'unsure');
    const outbox = new Outbox(environment);
    outbox.add(SOMETHING);
    await outbox.commit();
    expect(done).toEqual(['decide', 'delete unsure', 'end unsure', 'post c', 'append', 'post slow']);
  });

  it('do not end a connection that missed QoS 0 messages only', async () => {
    const { environment, done } = environmentWhere('throttled');
    const outbox = new Outbox(environment);
    outbox.posts.push('c', PACKET, false);
    await outbox.commit();
    expect(done).toEqual(['post c']);
  });

  it('do not count as done when the event has failed; packets that were given to a connection leave', async () => {
    const { environment, done } = environmentWhere('sent');
    const outbox = new Outbox(environment);
    outbox.posts.push('c', PACKET, true);
    outbox.whenLeft(() => void done.push('done'));
    await outbox.abandon();
    await outbox.commit();
    expect(done).toEqual(['post c']);
  });

  it('of a worker are appended after it has closed the connection whose post failed', async () => {
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const doings = offered('gone', () => isReleased);
    const { environment, done } = doings;
    const outbox = new Outbox(environment, {}, senderOf(doings));
    outbox.add(SOMETHING);
    const committed = outbox.commit();
    // All that does not wait for the end has happened by then.
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual(['decide', 'post c']);
    release();
    await committed;
    expect(done).toEqual(['decide', 'post c', 'end c', 'append', 'post slow']);
  });
});

/** Posts as a worker does. */
function senderOf({ environment, poster }: Doings) {
  const clock = { now: () => 0 };
  const options = {
    poster,
    clock,
    log: silent,
    sleep: async () => {},
    random: () => 0.5,
    redirectionOf: async () => undefined,
  };
  const lost = new LostConnections(environment, () => true);
  const posts = new FanOutPosts(options, new GatewayState(1_000_000), noCounts(), 1_000, lost);
  return posts.sender(() => {}, 'default');
}
