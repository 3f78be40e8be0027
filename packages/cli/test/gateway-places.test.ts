import { expect, test } from 'vitest';
import { PeerAddresses } from '../../node/src/peer-address.ts';
import { FakeScheduler } from '../../node/test/support/fake-scheduler.ts';
import { GatewayPlaces } from '../src/gateway/gateway-places.ts';

test('an address with many handshakes is eager, until it has made none for a while [SEC-PLACE-1]', () => {
  const clock = new FakeScheduler();
  const places = new GatewayPlaces({
    limits: { connectionsMax: 10, pendingPerAddressMax: 0 },
    ...{ addresses: new PeerAddresses([]), log: { debug() {}, info() {}, warn() {}, error() {} }, clock },
  });
  const eager = Array.from({ length: 60 }, (_, each) => places.isEager(`2001:db8::${each}`));
  expect(eager.lastIndexOf(false)).toBe(49);
  expect(places.isEager('192.0.2.1')).toBe(false);
  clock.advance(2_000);
  expect(places.isEager('2001:db8::1')).toBe(false);
});
