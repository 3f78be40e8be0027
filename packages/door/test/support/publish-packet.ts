import type { PublishPacket } from '@apus/mqtt';

/** The smallest PUBLISH, for tests of quotas. */
export const PUBLISH: PublishPacket = {
  type: 'publish',
  topic: 't',
  payload: new Uint8Array(),
  qos: 0,
  retain: false,
  dup: false,
  packetId: 0,
  properties: {},
};
