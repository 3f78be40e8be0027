import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword, mintToken, readIdentity } from '@apus/identity';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { notInACluster } from '../support/only-at.ts';
import { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, openDoor, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { expectMessage, type Fields, publish, subscribe, usePeers } from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);
const SECRET = '0123456789abcdef0123456789abcdef';
/** As many as were seen to hold up a login for 3.4 s. */
const GUESSES = 150;

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-attack-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function usersFile(directory: string, users: readonly Fields[]): Promise<string> {
  const file = join(directory, 'users.json');
  const password = await hashPassword(Buffer.from('secret'));
  writeFileSync(file, JSON.stringify({ users: users.map((user) => ({ password, ...user })) }));
  return file;
}

ownDoor(`a broker that is restarted (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const stays = { clientId: 'ada', clean: false, properties: { sessionExpiryInterval: 600 } };
  const ADMIN = { name: 'admin', publish: ['#'], subscribe: ['#'] };

  it(
    'does not deliver messages that a user may no longer read, neither waiting nor new ones [SEC-RULES-4]',
    notInACluster('it has a data directory'),
    async () => {
      const dataDirectory = temporaryDirectory();
      const start = async (subscribeTo: readonly string[]) => {
        const file = await usersFile(dataDirectory, [
          { name: 'ada', publish: [], subscribe: subscribeTo },
          ADMIN,
        ]);
        const identity = readIdentity({ authenticators: [{ users: { file } }] }, 'identity');
        const door = await openDoor({ identity, dataDirectory });
        const connect = async (username: string, fields: Fields = {}) =>
          await RawClient.connect(door.url, {
            username,
            password: 'secret',
            clientId: unique('c'),
            ...fields,
          });
        return { door, connect };
      };

      const before = await start(['closed', 'open']);
      const { client } = await before.connect('ada', stays);
      for (const topic of ['closed', 'open']) expect(await subscribe(client, topic, { qos: 1 })).toBe(1);
      await client.disconnect();
      const publisher = (await before.connect('admin')).client;
      for (const topic of ['closed', 'open'])
        await publish(publisher, { topic, payload: `${topic} waited`, qos: 1 });
      await before.door.stop();

      const after = await start(['open']);
      onTestFinished(() => after.door.stop());
      const back = await after.connect('ada', stays);
      expect(back.connack).toMatchObject({ reasonCode: 0, sessionPresent: true });
      await expectMessage(back.client, 'open waited');
      const again = (await after.connect('admin')).client;
      for (const topic of ['closed', 'open'])
        await publish(again, { topic, payload: `${topic} live`, qos: 1 });
      await expectMessage(back.client, 'open live');
      await back.client.expectNothing();
    },
  );
});

ownDoor(`a flood of wrong passwords (${OPTIONS_NEED_OUR_DOOR})`, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'apus-attack-'));
  const file = await usersFile(directory, [{ name: 'ada', publish: [], subscribe: [] }]);
  const identity = readIdentity({ authenticators: [{ users: { file } }] }, 'identity');
  afterAll(() => rmSync(directory, { recursive: true }));
  const peers = usePeers({ identity, logSink: () => {} });

  it(`of ${GUESSES} guesses holds up no user who has the right one [SEC-GUESS-4]`, async () => {
    let answered = 0;
    const guesses = Array.from({ length: GUESSES }, async (_, index) => {
      const outcome = peers.connect({ username: `name-${index}`, password: 'wrong' });
      // The door cuts those whose turn does not come in time.
      const reasonCode = await outcome.then(({ connack }) => connack.reasonCode).catch(() => 'cut');
      answered += 1;
      return reasonCode;
    });
    // Some of them are being looked at, and all others wait.
    while (answered === 0) await new Promise((resolve) => setImmediate(resolve));
    const { connack } = await peers.connect({ username: 'ada', password: 'secret' });
    expect(connack.reasonCode).toBe(0);
    expect(answered).toBeLessThan(GUESSES / 2);
    for (const outcome of await Promise.all(guesses)) expect([0x86, 0x9f, 'cut']).toContain(outcome);
  });
});

ownDoor(`a token with a filter that is none (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({
    identity: readIdentity({ authenticators: [{ jwt: { secret: SECRET } }] }, 'identity'),
  });
  const tokenOf = (claims: object) =>
    mintToken(Buffer.from(SECRET), { sub: 'ada', expiresInSeconds: 600, nowMs: Date.now(), ...claims });

  it.each([
    ['publish', { publish: ['a/#/b'], subscribe: ['a/+'] }],
    ['subscribe', { publish: ['a'], subscribe: ['a/#/b'] }],
    ['acl', { acl: { sub: ['a/#/b'] } }],
  ])(
    'in "%s" is refused as a whole, in the handshake and in CONNECT [SEC-RULES-3]',
    async (_claim, claims) => {
      const token = await tokenOf(claims);
      await expect(RawClient.connect(`${peers.url()}?token=${token}`)).rejects.toThrow('403');
      const { connack } = await peers.connect({ username: 'ada', password: token });
      expect([0x86, 0x87]).toContain(connack.reasonCode);
    },
  );
});
