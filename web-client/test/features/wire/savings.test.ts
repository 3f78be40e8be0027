import { expect, test } from 'vitest';
import { NO_TRAFFIC } from '../../../src/engine/idle-status.ts';
import type { GatewayTraffic } from '../../../src/engine/types.ts';
import { savingOf, usdOfMessages } from '../../../src/features/wire/savings.ts';

const TRAFFIC: GatewayTraffic = {
  framesSent: 4,
  framesReceived: 6,
  messagesBilled: 12,
  packets: 20,
  billedAlone: 25,
  pingsAnswered: 2,
  pubacksDropped: 1,
};

test('the saving counts the packets that the transport keeps to itself, both packets of a ping', () => {
  expect(savingOf(TRAFFIC)).toEqual({ billed: 12, alone: 30, saved: 18, share: 0.6 });
});

test('frames without packets may cost more than sharing saves', () => {
  const idle = { ...TRAFFIC, billedAlone: 10, pingsAnswered: 0, pubacksDropped: 0 };
  expect(savingOf(idle)).toMatchObject({ saved: -2, share: -0.2 });
});

test('a connection that has sent nothing has saved nothing', () => {
  expect(NO_TRAFFIC.gateway).toBeUndefined();
  const nothing = { ...TRAFFIC, messagesBilled: 0, billedAlone: 0, pingsAnswered: 0, pubacksDropped: 0 };
  expect(savingOf(nothing)).toEqual({ billed: 0, alone: 0, saved: 0, share: 0 });
});

test('a message is a dollar a million', () => {
  expect([usdOfMessages(1), usdOfMessages(-3), usdOfMessages(0), usdOfMessages(2_000_000)]).toEqual([
    '$0.000001',
    '−$0.000003',
    '$0.00',
    '$2.00',
  ]);
});
