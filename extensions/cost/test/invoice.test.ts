import { describe, expect, it } from 'vitest';
import { invoiceOf } from '../src/index.ts';

const NOTHING = {
  ...{ connectionMs: 0, messagesIn: 0, messagesOutQos0: 0, messagesOutQos1: 0, messagesOutQos2: 0 },
  ...{ bytesOut: 0, framesIn: 0, framesOut: 0, storageByteSeconds: 0 },
};

describe('an invoice', () => {
  it('prices connection-minutes, frames, data and storage by the price book', () => {
    const { lines, usd } = invoiceOf({
      ...NOTHING,
      connectionMs: 60_000 * 1_000_000,
      framesIn: 1_000_000,
      framesOut: 2_000_000,
      // If there are frames, messages are not priced as well.
      messagesIn: 9_000_000,
      bytesOut: 10_000_000_000,
      storageByteSeconds: 1_000_000_000 * 30 * 86_400,
    });
    const dollars = Object.fromEntries(lines.map((line) => [line.label, line.usd]));
    expect(dollars).toEqual({
      'Connection-minutes': 0.25,
      'Gateway messages in': 1,
      'Gateway messages out': 2,
      'Data out, GB': expect.closeTo(0.9, 9),
      'Storage, GB-months': 0.25,
    });
    expect(usd).toBeCloseTo(4.4, 9);
  });

  it('prices messages if no frames were counted', () => {
    const used = { ...NOTHING, messagesIn: 1_000_000, messagesOutQos0: 1_000_000, messagesOutQos2: 500_000 };
    expect(invoiceOf(used).lines.map(({ label, usd }) => [label, usd])).toEqual([
      ['Messages out', 1.5],
      ['Messages in', 1],
    ]);
  });

  it('adds a margin to each price', () => {
    const { lines, usd } = invoiceOf({ ...NOTHING, framesIn: 1_000_000 }, 0.3);
    expect(lines).toMatchObject([{ quantity: 1_000_000, unitUsd: expect.closeTo(1.3e-6, 12), usd: 1.3 }]);
    expect(usd).toBe(1.3);
  });

  it('has no line without usage', () => expect(invoiceOf(NOTHING)).toEqual({ lines: [], usd: 0 }));

  it.each([-0.1, Number.NaN])('refuses a margin of %f', (margin) => {
    expect(() => invoiceOf(NOTHING, margin)).toThrow(RangeError);
  });
});
