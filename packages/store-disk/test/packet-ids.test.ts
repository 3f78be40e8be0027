import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import { expect, it } from 'vitest';
import { PacketIds } from '../src/packet-ids.ts';

it(`gives each of ${KEPT_PACKET_ID_MAX} ids once, and a freed one again`, () => {
  const ids = new PacketIds();
  const taken = Array.from({ length: KEPT_PACKET_ID_MAX }, () => ids.take());
  expect(new Set(taken).size).toBe(KEPT_PACKET_ID_MAX);
  expect(Math.max(...taken)).toBe(KEPT_PACKET_ID_MAX);
  expect(ids.areExhausted).toBe(true);
  ids.free(7);
  expect(ids.areExhausted).toBe(false);
  expect(ids.take()).toBe(7);
});

it('lets an id rest as long as possible', () => {
  const ids = new PacketIds();
  const first = ids.take();
  ids.free(first);
  expect(ids.take()).not.toBe(first);
});

it('reserves no more than half of them, so that the rest can be sent', () => {
  const ids = new PacketIds();
  const reserved = Array.from({ length: KEPT_PACKET_ID_MAX }, () => ids.reserve());
  expect(reserved.filter((id) => id !== 0)).toHaveLength(KEPT_PACKET_ID_MAX >> 1);
  expect(ids.take()).toBeGreaterThan(0);
});

it('goes on behind those that were found on the disk', () => {
  const ids = new PacketIds();
  ids.restore(5);
  expect(ids.take()).toBe(6);
});
