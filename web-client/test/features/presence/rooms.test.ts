import { expect, test } from 'vitest';
import { newSubscription } from '../../../src/engine/new-profile.ts';
import type { LoggedMessage, LogMark, PlacedMark } from '../../../src/engine/types.ts';
import { Rooms } from '../../../src/features/presence/rooms.ts';
import { notWatching, watchedRooms, watching } from '../../../src/features/presence/topics.ts';
import { message } from '../message.ts';

let last: LoggedMessage | undefined;

function said(member: string, data: string, retain = false): LoggedMessage {
  last = message(`$presence/room/${member}`, data, { retain });
  return last;
}

const placed = (mark: LogMark): PlacedMark => ({ sequence: (last?.sequence ?? 0) + 1, mark });

function take(rooms: Rooms, ...messages: readonly LoggedMessage[]): void {
  rooms.take(messages, []);
}

const membersOf = (rooms: Rooms) =>
  [...rooms.get('room').members.values()].map(({ name, data }) => `${name}=${data}`);

test('members that were there come without a time, and change and leave', () => {
  const rooms = new Rooms();
  take(rooms, said('ann', 'here', true), message('$occupancy/room', '1', { retain: true }));
  take(rooms, said('bob', 'new'), said('ann', 'busy'), said('bob', ''), said('carl', ''));
  expect(membersOf(rooms)).toEqual(['ann=busy']);
  expect(rooms.get('room').members.get('ann')?.joinedAtMs).toBeUndefined();
  expect(rooms.get('room').occupancy).toBe(1);
});

test('a new session begins with an empty room, one that went on does not', () => {
  const rooms = new Rooms();
  take(rooms, said('ann', 'here'));
  const away = { kind: 'away', atMs: 2, fromMs: 1 } as const;
  rooms.take([], [placed({ ...away, sessionPresent: true })]);
  expect(membersOf(rooms)).toEqual(['ann=here']);
  const mark = placed({ ...away, sessionPresent: false });
  rooms.take([said('bob', 'there', true)], [mark]);
  expect(membersOf(rooms)).toEqual(['bob=there']);
});

test('a room is in doubt when the broker has dropped messages, until it is asked for anew', () => {
  const rooms = new Rooms();
  take(rooms, said('ann', 'here'));
  rooms.take([], [placed({ kind: 'dropped', atMs: 1, count: 1, reasons: {} })]);
  expect(rooms.get('room').isDoubtful).toBe(true);
  rooms.forget('room');
  take(rooms, said('ann', 'here', true));
  expect(rooms.get('room').isDoubtful).toBe(false);
});

test('rooms are watched by subscriptions, which others are left beside', () => {
  const others = [newSubscription('a/#')];
  const subscriptions = watching(others, 'room');
  expect(subscriptions.map(({ filter }) => filter)).toEqual(['a/#', '$presence/room/+', '$occupancy/room']);
  expect(watchedRooms(subscriptions)).toEqual(['room']);
  expect(notWatching(subscriptions, 'room')).toEqual(others);
});
