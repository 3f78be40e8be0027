import { expect, test } from 'vitest';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import type { PublishOutcome } from '../../src/engine/protocol.ts';
import { messageFields } from '../features/message.ts';

const published = (packetId: number | undefined, dup = false) => ({
  ...messageFields('t'),
  direction: 'published' as const,
  packetId,
  dup,
});
const outcome = (state: PublishOutcome['state'], packetId?: number, code?: number): PublishOutcome => ({
  packetId,
  state,
  code,
  detail: '',
});

function setUp() {
  const log = new BoundedMessageLog({ messagesMax: 10, bytesMax: 1_000_000 }, () => {});
  const states = () => Array.from({ length: log.size }, (_, index) => log.at(index)?.fate?.state);
  return { log, states };
}

test('an answer belongs to the message that had the packet identifier then', () => {
  const { log, states } = setUp();
  log.append([published(1), published(1)], [], [{ row: 1, outcome: outcome('refused', 1, 0x87) }]);
  expect(states()).toEqual(['refused', 'sent']);
  log.append([], [], [{ row: 0, outcome: outcome('acknowledged', 1, 0) }]);
  expect(states()).toEqual(['refused', 'acknowledged']);
});

test('a publish over which the connection was lost is of unknown fate until its next copy is answered', () => {
  const { log, states } = setUp();
  log.append([published(1), published(undefined)], [], [{ row: 2, outcome: outcome('unknown') }]);
  expect(states()).toEqual(['unknown', 'sent']);
  log.append([published(1, true)]);
  log.append([], [], [{ row: 0, outcome: outcome('acknowledged', 1, 0) }]);
  expect(states()).toEqual(['acknowledged', 'sent', 'acknowledged']);
});

test('a publish that is never sent again is lost, and no later answer is taken for it', () => {
  const { log, states } = setUp();
  log.append([published(1)], [], [{ row: 1, outcome: outcome('lost') }]);
  log.append([published(1)], [], [{ row: 1, outcome: outcome('acknowledged', 1, 0) }]);
  expect(states()).toEqual(['lost', 'acknowledged']);
});

test('a received message has no fate', () => {
  const { log, states } = setUp();
  log.append([{ ...messageFields('t'), packetId: 1 }], [], [{ row: 1, outcome: outcome('acknowledged', 1) }]);
  expect(states()).toEqual([undefined]);
});
