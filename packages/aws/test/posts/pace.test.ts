import { describe, expect, it } from 'vitest';
import { PacketSequence } from '../../src/frames/packet-sequence.ts';
import { PACKED_BYTES_MAX } from '../../src/frames/text-frame.ts';
import { HmacSha256, sha256Hex } from '../../src/http/sha256.ts';
import { Pace } from '../../src/posts/pace.ts';
import { Refusals, triesAt } from '../../src/posts/refusals.ts';

describe('a pace', () => {
  /** When each of these posts leaves, if each caller waits as long as it is told. */
  function timesOf(pace: Pace, posts: number, fromMs: number): number[] {
    let nowMs = fromMs;
    return Array.from({ length: posts }, () => {
      nowMs += pace.take(nowMs);
      return nowMs;
    });
  }

  it('lets a tenth of a second leave at once after a pause, and then no more than its budget', () => {
    const times = timesOf(new Pace(100), 111, 10_000);
    expect(times.filter((ms) => ms === 10_000)).toHaveLength(11);
    expect(times.at(-1)).toBe(11_000);
  });

  it('is set by throttling to half of the rate that was sent, and not again at once', () => {
    const pace = new Pace(1_000);
    let nowMs = 10_000;
    for (let post = 0; post < 300; post += 1, nowMs += 10) pace.take(nowMs);
    pace.slowDown(nowMs);
    const slowed = pace.postsPerSecond;
    expect(slowed).toBeGreaterThan(40);
    expect(slowed).toBeLessThan(60);
    pace.slowDown(nowMs + 249);
    expect(pace.postsPerSecond).toBe(slowed);
    pace.slowDown(nowMs + 250);
    expect(pace.postsPerSecond).toBeLessThan(slowed);
  });

  it('never stops, and returns to its budget in steps, not above it', () => {
    const pace = new Pace(200);
    let nowMs = 10_000;
    for (let count = 0; count < 20; count += 1, nowMs += 250) pace.slowDown(nowMs);
    expect(pace.postsPerSecond).toBe(10);
    nowMs += 1_000;
    pace.take(nowMs);
    expect(pace.postsPerSecond).toBeGreaterThan(10);
    expect(pace.postsPerSecond).toBeLessThan(30);
    pace.take(nowMs + 60_000);
    expect(pace.postsPerSecond).toBe(200);
  });
});

describe('refused posts', () => {
  it('are throttling from a tenth of all on, and not when they are few', () => {
    const refusals = new Refusals();
    for (let post = 0; post < 4; post += 1) refusals.note(true, 10_000);
    expect(refusals.isThrottled(10_000)).toBe(false);
    refusals.note(true, 10_000);
    expect(refusals.isThrottled(10_000)).toBe(true);
    for (let post = 0; post < 40; post += 1) refusals.note(false, 10_000);
    expect(refusals.share(10_000)).toBe(0.1);
    expect(refusals.isThrottled(10_000)).toBe(true);
    refusals.note(false, 10_000);
    expect(refusals.isThrottled(10_000)).toBe(false);
  });

  it('are forgotten after ten seconds at most', () => {
    const refusals = new Refusals();
    for (let post = 0; post < 10; post += 1) refusals.note(true, 10_000);
    expect(refusals.isThrottled(14_999)).toBe(true);
    expect(refusals.share(25_000)).toBe(0);
  });

  it.each([
    [0, 4],
    [0.1, 4],
    [0.3, 8],
    [0.5, 14],
    [0.9, 88],
  ])('at a refusal rate of %d need %d attempts before chance cannot explain them', (share, tries) => {
    expect(triesAt(share)).toBe(tries);
  });
});

describe('packets on their way', () => {
  const bytes = (length: number) => Buffer.alloc(length, 1);

  it('are one sequence for all recipients of the same packets', () => {
    const nothing = new PacketSequence();
    const [a, b] = [bytes(3), bytes(3)];
    const both = nothing.with(a, true).with(b, false);
    expect(nothing.with(a, true).with(b, false)).toBe(both);
    expect(nothing.with(a, true).with(b, false).frames()).toBe(both.frames());
    expect(nothing.with(b, false).with(a, true)).not.toBe(both);
    expect(nothing.with(a, false)).not.toBe(nothing.with(a, true));
  });

  it('fill frames up to the size that is billed as one message, and repeat only packets that must arrive', () => {
    const [first, second] = [bytes(PACKED_BYTES_MAX - 1), bytes(2)];
    const frames = new PacketSequence().with(first, true).with(second, false).with(bytes(1), true).frames();
    expect(frames.map(({ packets }) => packets)).toEqual([1, 2]);
    expect(frames[0]?.repeat()).toBe(frames[0]);
    expect(frames[1]?.repeat()?.packets).toBe(1);
    expect(new PacketSequence().with(second, false).frames()[0]?.repeat()).toBeUndefined();
  });

  it('mark that a PUBLISH of a persistent session must not be sent twice on one connection [MQTT-3.3.4-9]', () => {
    const mustComeOnce = (...packets: Uint8Array[]) =>
      packets.reduce((sequence, packet) => sequence.with(packet, true), new PacketSequence()).frames()[0]
        ?.mustComeOnce;
    const publish = (firstByte: number, packetId: number, topicLength = 1) => {
      const remaining = topicLength + 4;
      const length = remaining < 128 ? [remaining] : [(remaining % 128) + 128, Math.floor(remaining / 128)];
      const topic = Array.from({ length: topicLength }, () => 0x61);
      const word = (value: number) => [value >> 8, value & 0xff];
      return Uint8Array.of(firstByte, ...length, ...word(topicLength), ...topic, ...word(packetId));
    };
    // QoS 1 and 2, with DUP and with RETAIN, and with a Remaining Length of two bytes.
    for (const firstByte of [0x32, 0x3a, 0x33, 0x34, 0x3c, 0x35]) {
      expect(mustComeOnce(publish(firstByte, 1))).toBe(true);
      expect(mustComeOnce(publish(firstByte, 32_767, 300))).toBe(true);
    }
    // Of a session that keeps nothing: its window counts none of QoS 1.
    expect(mustComeOnce(publish(0x32, 32_768))).toBe(false);
    expect(mustComeOnce(publish(0x32, 65_535, 300))).toBe(false);
    expect(mustComeOnce(publish(0x32, 65_535), publish(0x34, 1))).toBe(true);
    // QoS 0, PUBREL, PUBACK, PUBREC.
    expect([0x30, 0x62, 0x40, 0x50].map((each) => mustComeOnce(Uint8Array.of(each, 2, 0, 1)))).not.toContain(
      true,
    );
  });
});

describe('HMAC-SHA-256', () => {
  it('is that of RFC 4231, however long the text before was', () => {
    const hmac = new HmacSha256(Buffer.from('Jefe'));
    hmac.hex('x'.repeat(1_000));
    expect(hmac.hex('what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
    expect(() => new HmacSha256(Buffer.alloc(65))).toThrow(RangeError);
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
