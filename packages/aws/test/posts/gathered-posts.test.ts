import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/frames/frame.ts';
import { PACKED_BYTES_MAX, type Poster, type PostOutcome } from '../../src/index.ts';
import { NO_METER } from '../../src/metrics/meter.ts';
import { DirectPosts } from '../../src/posts/direct-posts.ts';
import { GatheredPosts } from '../../src/posts/gathered-posts.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Post {
  readonly connectionId: string;
  readonly bytes: Buffer;
  readonly mayRepeat: boolean;
}

/** Answers each post a turn of the event loop later, and knows which were under way together. */
class FakePoster implements Poster {
  readonly posts: Post[] = [];
  readonly underWay = new Map<string, number>();
  together = 0;
  overlappedForOne = false;
  readonly #outcomeOf: (post: Post) => PostOutcome;

  constructor(outcomeOf: (post: Post) => PostOutcome = () => 'sent') {
    this.#outcomeOf = outcomeOf;
  }

  async post(connectionId: string, frame: Frame | string, mayRepeat: boolean): Promise<PostOutcome> {
    const text = typeof frame === 'string' ? frame : frame.text;
    const post = { connectionId, bytes: Buffer.from(text, 'base64'), mayRepeat };
    this.posts.push(post);
    if (this.underWay.has(connectionId)) this.overlappedForOne = true;
    this.underWay.set(connectionId, 1);
    this.together = Math.max(this.together, this.underWay.size);
    await new Promise(setImmediate);
    this.underWay.delete(connectionId);
    return this.#outcomeOf(post);
  }

  async delete(): Promise<boolean> {
    return true;
  }

  async get(): Promise<'unknown'> {
    return 'unknown';
  }

  to(connectionId: string): Buffer {
    return Buffer.concat(
      this.posts.filter((post) => post.connectionId === connectionId).map(({ bytes }) => bytes),
    );
  }
}

const gatheredFor = (poster: Poster) => new GatheredPosts(new DirectPosts(poster, silent, NO_METER));

describe('the posts of an event', () => {
  it('hold several packets for one connection in one post', async () => {
    const poster = new FakePoster();
    const posts = gatheredFor(poster);
    for (const text of ['a', 'b', 'c']) posts.push('one', Buffer.from(text), false);
    expect(await posts.flush()).toEqual([]);
    expect(poster.posts.map(({ bytes }) => String(bytes))).toEqual(['abc']);
  });

  it('hold no more than is billed as one message, unless one packet is larger', async () => {
    const poster = new FakePoster();
    const posts = gatheredFor(poster);
    for (const size of [PACKED_BYTES_MAX - 1, 1, 1, 90_000, 2]) posts.push('one', Buffer.alloc(size), false);
    await posts.flush();
    expect(poster.posts.map(({ bytes }) => bytes.length)).toEqual([PACKED_BYTES_MAX, 1, 90_000, 2]);
  });

  it('keep the order for each connection: one post after another, connections side by side', async () => {
    const packet = fc.record({
      to: fc.constantFrom('a', 'b', 'c'),
      size: fc.integer({ min: 1, max: 12_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(packet, { maxLength: 40 }), async (packets) => {
        const poster = new FakePoster();
        const posts = gatheredFor(poster);
        const expected = new Map<string, Buffer[]>();
        for (const [index, { to, size }] of packets.entries()) {
          const bytes = Buffer.alloc(size, index + 1);
          posts.push(to, bytes, false);
          expected.set(to, [...(expected.get(to) ?? []), bytes]);
        }
        await posts.flush();
        for (const [to, all] of expected) expect(poster.to(to).equals(Buffer.concat(all))).toBe(true);
        expect(poster.overlappedForOne).toBe(false);
        expect(poster.together).toBe(expected.size);
        for (const { bytes } of poster.posts) expect(bytes.length).toBeLessThanOrEqual(PACKED_BYTES_MAX);
      }),
      { numRuns: 50 },
    );
  });

  it('go to at most 64 connections at a time, and to all', async () => {
    const poster = new FakePoster();
    const posts = gatheredFor(poster);
    for (let index = 0; index < 200; index += 1) posts.push(`c${index}`, Buffer.from('x'), false);
    await posts.flush();
    expect(poster.together).toBe(64);
    expect(new Set(poster.posts.map(({ connectionId }) => connectionId)).size).toBe(200);
  });

  it('are repeated only where a packet in them must arrive', async () => {
    const poster = new FakePoster();
    const posts = gatheredFor(poster);
    posts.push('qos 0', Buffer.from('x'), false);
    posts.push('mixed', Buffer.from('x'), false);
    posts.push('mixed', Buffer.from('y'), true);
    await posts.flush();
    expect(poster.posts.map(({ connectionId, mayRepeat }) => [connectionId, mayRepeat])).toEqual([
      ['qos 0', false],
      ['mixed', true],
    ]);
  });

  it('report the connections that did not get theirs, stop with those, and serve the others', async () => {
    const poster = new FakePoster(({ connectionId }) => (connectionId === 'lost' ? 'gone' : 'sent'));
    const posts = gatheredFor(poster);
    for (const to of ['lost', 'there']) {
      for (let count = 0; count < 2; count += 1) posts.push(to, Buffer.alloc(20_000), to === 'lost');
    }
    const failed = await posts.flush();
    expect(failed).toMatchObject([{ connectionId: 'lost', outcome: 'gone', isLoss: true, packets: 2 }]);
    expect(failed[0]?.missing).toHaveLength(2);
    expect(poster.posts.filter(({ connectionId }) => connectionId === 'lost')).toHaveLength(1);
    expect(poster.posts.filter(({ connectionId }) => connectionId === 'there')).toHaveLength(2);
  });

  it('go on to the connection that a session has moved to, beginning with the missing packets', async () => {
    const poster = new FakePoster(({ connectionId }) => (connectionId === 'old' ? 'gone' : 'sent'));
    const posts = gatheredFor(poster);
    posts.push('old', Buffer.from('first'), true);
    const [failed] = await posts.flush();
    if (failed === undefined) throw new Error('a post to a connection that is gone succeeded');
    posts.follow(failed, { to: 'new', unkeptAlone: false });
    posts.push('old', Buffer.from('second'), true);
    await posts.flush();
    const arrived = poster.posts.filter(({ connectionId }) => connectionId === 'new');
    expect(arrived.map(({ bytes }) => String(bytes))).toEqual(['firstsecond']);
  });

  it('are none after a flush: packets that come meanwhile wait for the next', async () => {
    const poster = new FakePoster();
    const posts = gatheredFor(poster);
    posts.push('one', Buffer.from('first'), false);
    const flushed = posts.flush();
    posts.push('one', Buffer.from('second'), false);
    await flushed;
    expect(poster.posts).toHaveLength(1);
    await posts.flush();
    await posts.flush();
    expect(poster.posts.map(({ bytes }) => String(bytes))).toEqual(['first', 'second']);
  });

  it('stop behind a gap, for that connection', async () => {
    const poster = new FakePoster(({ connectionId }) => (connectionId === 'lost' ? 'failed' : 'sent'));
    const posts = gatheredFor(poster);
    for (const to of ['lost', 'there']) posts.push(to, Buffer.from('first'), true);
    expect(await posts.flush()).toMatchObject([{ connectionId: 'lost', outcome: 'failed', isLoss: true }]);
    for (const to of ['lost', 'there']) posts.push(to, Buffer.from('second'), true);
    expect(await posts.flush()).toEqual([]);
    expect(poster.posts.filter(({ connectionId }) => connectionId === 'lost')).toHaveLength(1);
    expect(String(poster.to('there'))).toBe('firstsecond');
  });

  it('go on for a connection that missed QoS 0 messages only', async () => {
    const poster = new FakePoster(() => 'throttled');
    const posts = gatheredFor(poster);
    posts.push('one', Buffer.from('first'), false);
    expect(await posts.flush()).toMatchObject([{ isLoss: false }]);
    posts.push('one', Buffer.from('second'), false);
    expect(posts.isEmpty).toBe(false);
  });

  it('drop the packets for a connection that is given up, and report that once', async () => {
    const poster = new FakePoster();
    const posts = gatheredFor(poster);
    posts.push('one', Buffer.from('first'), true);
    expect(posts.lose('one')).toMatchObject({ connectionId: 'one', outcome: 'failed', isLoss: true });
    expect(posts.lose('one')).toBeUndefined();
    expect(await posts.flush()).toEqual([]);
    expect(poster.posts).toEqual([]);
  });
});
