import { describe, expect, it } from 'vitest';
import { LostConnections } from '../../src/connections/lost-connections.ts';
import { noCounts } from '../../src/fan-out/metrics.ts';
import { FanOutPosts, type FanOutPostsOptions, GatewayState } from '../../src/fan-out/posts.ts';
import type { Frame } from '../../src/frames/frame.ts';
import { PacketSequence } from '../../src/frames/packet-sequence.ts';
import { PARALLEL_POSTS_MAX } from '../../src/posts/direct-posts.ts';
import type { Redirection } from '../../src/posts/gathered-posts.ts';
import type { PostOutcome } from '../../src/posts/poster.ts';
import { environmentWhere, PACKET, silent } from '../support/doings.ts';

interface Post {
  readonly connectionId: string;
  readonly frame: Frame;
  readonly answer: (outcome: PostOutcome) => void;
}

/** By then nothing is posted any more. */
const DEADLINE_MS = 1_000;

const TENANT = 'default';

const idle = () => new Promise(setImmediate);

/** One packet, that has to arrive, to each of these. */
function slice(...connectionIds: readonly string[]): Map<string, PacketSequence> {
  const packets = new PacketSequence().with(PACKET, true);
  return new Map(connectionIds.map((id) => [id, packets]));
}

/** Posts that the test answers. */
function posting(
  hasTime: () => boolean = () => true,
  redirectionOf: FanOutPostsOptions['redirectionOf'] = async () => undefined,
) {
  const asked: Post[] = [];
  const sent: string[] = [];
  const clock = { nowMs: 0, now: () => clock.nowMs };
  const gets: number[] = [];
  const poster = {
    attempt: (connectionId: string, frame: Frame) =>
      new Promise<PostOutcome>((resolve) => {
        const answer = (outcome: PostOutcome) => {
          if (outcome === 'sent') sent.push(connectionId);
          resolve(outcome);
        };
        asked.push({ connectionId, frame, answer });
      }),
    get: async () => {
      gets.push(clock.nowMs);
      return 'unknown' as const;
    },
  };
  const { environment, done } = environmentWhere('sent');
  const options = { poster, clock, log: silent, sleep: async () => {}, random: () => 0.5, redirectionOf };
  const lost = new LostConnections(environment, hasTime);
  const posts = new FanOutPosts(options, new GatewayState(1_000_000), noCounts(), DEADLINE_MS, lost);
  /** Answers what has been asked and not been answered. */
  const answer = async (outcome: PostOutcome) => {
    for (const post of asked.splice(0)) post.answer(outcome);
    await idle();
  };
  return { posts, asked, sent, done, answer, clock, gets };
}

const TO_NEW: Redirection = { to: 'new', unkeptAlone: false };

describe('a frame for a connection whose session has moved', () => {
  it('comes to the new one before those of the next slice, which name it', async () => {
    let find: (next: Redirection) => void = () => {};
    const moved = new Promise<Redirection>((resolve) => {
      find = resolve;
    });
    const { posts, asked, sent, answer } = posting(
      () => true,
      () => moved,
    );
    let isPosted = false;
    const first = posts
      .post(slice('old'), () => {}, TENANT)
      .then(() => {
        isPosted = true;
      });
    await answer('gone');
    expect(isPosted).toBe(false);
    find(TO_NEW);
    await first;
    const second = posts.post(slice('new'), () => {}, TENANT);
    await idle();
    expect(asked).toHaveLength(1);
    await answer('throttled');
    expect(asked).toHaveLength(1);
    await answer('sent');
    await answer('sent');
    await Promise.all([second, posts.finishAll()]);
    expect(sent).toEqual(['new', 'new']);
  });

  it('follows a session that moves once more, and is waited for no longer than it takes', async () => {
    const moves = new Map([
      ['old', 'new'],
      ['new', 'newest'],
    ]);
    const { posts, sent, answer } = posting(
      () => true,
      async (connectionId) => ({ to: moves.get(connectionId) ?? '', unkeptAlone: false }),
    );
    const isUnfinished = () => {};
    const first = posts.post(slice('old'), isUnfinished, TENANT);
    await answer('gone');
    await answer('gone');
    await answer('sent');
    await first;
    // Also a frame that names the connection between: nothing is tried again there any more.
    const second = posts.post(slice('new'), isUnfinished, TENANT);
    await idle();
    await answer('sent');
    await second;
    expect(sent).toEqual(['newest', 'new']);
    await posts.finishAll();
  });

  it('is not sent where the new one is to be closed', async () => {
    const { posts, asked, done, answer } = posting(
      () => true,
      async () => TO_NEW,
    );
    const first = posts.post(slice('old'), () => {}, TENANT);
    await answer('gone');
    await answer('too-large');
    await first;
    await posts.post(slice('new'), () => {}, TENANT);
    expect(asked).toEqual([]);
    await posts.finishAll();
    expect(done.filter((each) => each.includes('delete'))).toEqual(['delete new']);
  });
});

describe('a frame for a connection to which another one is tried again', () => {
  it('is posted behind that one or by itself, also when it comes in the turn in which the gateway took that one', async () => {
    const { posts, asked, sent, answer } = posting();
    const first = posts.post(slice('x'), () => {}, TENANT);
    await answer('throttled');
    await first;
    const [retry] = asked.splice(0);
    // All lanes are busy; the one that is free first comes to the second frame for x.
    const others = Array.from({ length: PARALLEL_POSTS_MAX }, (_, index) => `c${index}`);
    const second = posts.post(slice(...others, 'x'), () => {}, TENANT);
    await idle();
    retry?.answer('sent');
    asked.shift()?.answer('sent');
    await idle();
    while (asked.length > 0) await answer('sent');
    await second;
    await posts.finishAll();
    expect(sent.filter((id) => id === 'x')).toHaveLength(2);
  });

  it('is awaited also when it came while the worker awaited others', async () => {
    const { posts, asked, answer } = posting();
    const first = posts.post(slice('x'), () => {}, TENANT);
    await answer('throttled');
    await first;
    let isFinished = false;
    const finished = posts.finishAll().then(() => {
      isFinished = true;
    });
    const second = posts.post(slice('y'), () => {}, TENANT);
    await idle();
    // y is refused before x is taken: the code that waits for x then finds y, which is tried again.
    asked.sort((one, other) => (one.connectionId > other.connectionId ? -1 : 1));
    for (const post of asked.splice(0)) post.answer(post.connectionId === 'y' ? 'throttled' : 'sent');
    await idle();
    expect(isFinished).toBe(false);
    await answer('sent');
    await Promise.all([second, finished]);
  });
});

describe('a slice', () => {
  it('is open while one of its posts is tried again, and done when the gateway has taken that post', async () => {
    const { posts, answer } = posting();
    const onUnfinished = () => {};
    const posted = posts.post(slice('x'), onUnfinished, TENANT);
    await answer('throttled');
    await posted;
    expect(posts.isOpen(onUnfinished)).toBe(true);
    expect(posts.isOpen(() => {})).toBe(false);
    await answer('sent');
    expect(posts.isOpen(onUnfinished)).toBe(false);
  });

  it('is repeated for a connection that is not closed, and so is a later slice that was held back for it', async () => {
    const { posts, done, answer } = posting(() => false);
    const told: string[] = [];
    const first = posts.post(slice('x'), () => void told.push('first'), TENANT);
    await answer('too-large');
    await first;
    await posts.post(slice('x'), () => void told.push('second'), TENANT);
    expect(told).toEqual([]);
    await posts.finishAll();
    expect(told).toEqual(['first', 'second']);
    expect(done).toEqual([]);
  });
});

describe('a connection that refuses until the time is out', () => {
  /** How often it has been posted to when the gateway is asked whether it is there. */
  const triesUntilAsked = async () => {
    const { posts, asked, answer, gets } = posting();
    void posts.post(slice('x'), () => {}, TENANT);
    let tries = 0;
    for (; gets.length === 0 && asked.length > 0; tries += 1) await answer('failed');
    return tries;
  };

  it('is not looked up when the last post has used up the time: the slice is repeated', async () => {
    const tries = await triesUntilAsked();
    const { posts, answer, clock, gets } = posting();
    let isUnfinished = false;
    const onUnfinished = () => {
      isUnfinished = true;
    };
    const posted = posts.post(slice('x'), onUnfinished, TENANT);
    for (let count = 1; count < tries; count += 1) await answer('failed');
    clock.nowMs = DEADLINE_MS;
    await answer('failed');
    await posted;
    await posts.finishAll();
    expect(gets).toEqual([]);
    expect(isUnfinished).toBe(true);
  });
});
