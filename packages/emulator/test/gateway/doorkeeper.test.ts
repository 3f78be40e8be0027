import { expect, test } from 'vitest';
import type { Doorkeeper } from '../../src/index.ts';
import { Client, refusal, start } from '../support.ts';

/** Mallory is eager. */
function doorkeeper(): Doorkeeper & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    arrive: () => void heard.push('arrive'),
    isEager: (address) => address === 'mallory',
    take(_connectionId, _socket, address, connections) {
      heard.push(`take ${address} ${connections}`);
      return connections < 6;
    },
    know: () => void heard.push('know'),
  };
}

/** A client is the one that its user agent names. */
const sourceOf = ({ headers }: { headers: { 'user-agent'?: string | undefined } }) =>
  headers['user-agent'] ?? 'unnamed';

const from = (name: string) => ({ headers: { 'user-agent': name } });

test('a client that is eager leaves half of the rate of handshakes to others [SEC-PLACE-1]', async () => {
  const emulator = await start(
    {},
    { doorkeeper: doorkeeper(), sourceOf, limits: { newConnectionsPerSecond: 4 } },
  );
  for (let each = 0; each < 2; each++) await Client.open(emulator.url, [], from('mallory'));
  expect(await refusal(emulator.url, [], from('mallory'))).toMatchObject({ status: 429 });
  for (let each = 0; each < 2; each++) await Client.open(emulator.url, [], from('ada'));
  expect(await refusal(emulator.url, [], from('ada'))).toMatchObject({ status: 429 });
  await emulator.clock.advance(1_000);
  await Client.open(emulator.url, [], from('mallory'));
});

test('the doorkeeper knows the address of a client, and decides on its place instead of connectionsMax', async () => {
  const keeper = doorkeeper();
  const sources: (string | undefined)[] = [];
  const connect = async ({ requestContext }: { requestContext: { identity?: { sourceIp?: string } } }) => {
    sources.push(requestContext.identity?.sourceIp);
    return { statusCode: 200 };
  };
  const emulator = await start({ connect }, { doorkeeper: keeper, sourceOf, limits: { connectionsMax: 1 } });
  for (let each = 0; each < 6; each++) await Client.open(emulator.url, [], from('ada'));
  expect(await refusal(emulator.url, [], from('bob'))).toMatchObject({ status: 503 });
  expect(sources).toEqual(new Array(6).fill('ada'));
  expect(keeper.heard.filter((each) => each.startsWith('take'))).toEqual([
    ...Array.from({ length: 6 }, (_, each) => `take ada ${each}`),
    'take bob 6',
  ]);
});
