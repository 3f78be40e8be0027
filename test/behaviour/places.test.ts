import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { doorUnderTest } from '../support/door.ts';
import { notInACluster } from '../support/only-at.ts';
import { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, openDoor, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { handshake } from './raw/handshake.ts';

const HANDSHAKE = handshake();
const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);
const CONNECTIONS_MAX = 100;
/** All sockets that a door takes: at the gateway door those of the management API are among them. */
const PLACES = CONNECTIONS_MAX + (doorUnderTest === 'gateway' ? 1_000 : 200);
const STRANGERS = 25;

const authenticator = {
  authenticate: ({ username = '' }) => ({ tenant: 'default', name: username, clientIds: ['+'] }),
};

/** A socket that holds a place: it sends this, and then nothing. */
async function hold(url: string, text: string, from: string): Promise<Socket> {
  const socket = connectTo({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: from });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  if (text !== '') socket.write(text);
  if (text.endsWith('\r\n\r\n')) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return socket;
}

async function startedDoor(options: Parameters<typeof openDoor>[0] = {}) {
  const door = await openDoor({ connectionsMax: CONNECTIONS_MAX, ...options });
  onTestFinished(() => door.stop());
  return door;
}

/** How many clients of the address are let in, one after another; they stay. */
async function letIn(
  url: string,
  from: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  let count = 0;
  for (let each = 0; each < STRANGERS; each++) {
    const connecting = RawClient.connect(url, { clientId: unique('stranger') }, headers, from);
    const { client, connack } = await connecting.catch(() => ({ client: undefined, connack: undefined }));
    if (client !== undefined) onTestFinished(() => client.close());
    if (connack?.reasonCode === 0) count++;
  }
  return count;
}

ownDoor(`an address that holds all places of a door (${OPTIONS_NEED_OUR_DOOR})`, () => {
  it.each([
    ['opens connections and sends nothing', ''],
    ['sends half of a handshake', HANDSHAKE],
    ['sends a handshake, and no CONNECT', `${HANDSHAKE}\r\n`],
    ['sends a request, and keeps its connection', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('and %s keeps no client of another address out [SEC-PLACE-1]', async (_, text) => {
    const { url } = await startedDoor();
    await Promise.all(Array.from({ length: PLACES }, () => hold(url, text, '127.0.0.1')));
    expect(await letIn(url, '127.0.0.2')).toBe(STRANGERS);
  });

  it('is not one that has several addresses, and they keep no client out either [SEC-PLACE-1]', async () => {
    const { url } = await startedDoor();
    for (const from of ['127.0.0.3', '127.0.0.4', '127.0.0.5'])
      await Promise.all(Array.from({ length: PLACES / 2 }, () => hold(url, '', from)));
    expect(await letIn(url, '127.0.0.2')).toBe(STRANGERS);
  });

  it('keeps its clients whose CONNECT has been accepted [SEC-PLACE-1]', async () => {
    const { url } = await startedDoor();
    expect(await letIn(url, '127.0.0.1')).toBe(STRANGERS);
    const { client } = await RawClient.connect(url, { clientId: unique('first') }, {}, '127.0.0.1');
    onTestFinished(() => client.close());
    await Promise.all(Array.from({ length: PLACES }, () => hold(url, `${HANDSHAKE}\r\n`, '127.0.0.1')));
    client.send({ cmd: 'pingreq' });
    await client.expect('pingresp');
  });

  it('is the client that a trusted proxy names, and not the proxy [SEC-PLACE-1]', async () => {
    const { url } = await startedDoor({ trustedProxies: ['127.0.0.1'], authenticator });
    const ofAttacker = `${HANDSHAKE}X-Forwarded-For: 192.0.2.1\r\n\r\n`;
    await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => hold(url, ofAttacker, '127.0.0.1')));
    expect(await letIn(url, '127.0.0.1', { 'X-Forwarded-For': '192.0.2.2' })).toBe(STRANGERS);
    await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => hold(url, ofAttacker, '127.0.0.1')));
    expect(await letIn(url, '127.0.0.1', { 'X-Forwarded-For': '192.0.2.3' })).toBe(STRANGERS);
  });
});

ownDoor(`an identity that opens connections (${OPTIONS_NEED_OUR_DOOR})`, () => {
  it(
    'gets half of the places of a door, however few, and others the other half [SEC-PLACE-2]',
    notInACluster('each process has places of its own'),
    async () => {
      const { url } = await startedDoor({ connectionsMax: 20, authenticator });
      const connect = async (username: string) => {
        const connecting = RawClient.connect(url, { clientId: unique('c'), username });
        const { client, connack } = await connecting.catch(() => ({ client: undefined, connack: undefined }));
        if (client !== undefined) onTestFinished(() => client.close());
        return connack?.reasonCode === 0;
      };
      const greedy: boolean[] = [];
      for (let each = 0; each < 12; each++) greedy.push(await connect('mallory'));
      expect(greedy.filter((isIn) => isIn)).toHaveLength(10);
      expect([await connect('ada'), await connect('bob')]).toEqual([true, true]);
    },
  );
});
