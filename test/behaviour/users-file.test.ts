import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RulesAuthorizer } from '@apus/broker';
import { hashPassword, UsersAuthenticator, WatchedUsersFile } from '@apus/identity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { expectDisconnect, expectMessage, type Fields, publish, subscribe, usePeers } from './raw/peers.ts';

const stays = { clean: false, properties: { sessionExpiryInterval: 60 } };

describe.skipIf(runningBrokerUrl !== undefined)(
  `a users file that changes (${OPTIONS_NEED_OUR_DOOR})`,
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'apus-users-'));
    const path = join(directory, 'users.json');
    const users = new Map<string, Fields>();
    let password = '';
    let file: WatchedUsersFile;

    const write = () => writeFileSync(path, JSON.stringify({ users: [...users.values()] }));
    const user = (name: string, rules: Fields) => void users.set(name, { name, password, ...rules });
    const options = {
      get usersFile() {
        return file;
      },
      get authenticator() {
        return new UsersAuthenticator({ users: file, tenant: 'default', clock: Date });
      },
      get authorizer() {
        return new RulesAuthorizer(({ name, rules }) => rules ?? file.get(name)?.rules);
      },
    };

    beforeAll(async () => {
      password = await hashPassword(Buffer.from('secret'));
      user('bob', { publish: ['#'], subscribe: [] });
      write();
      file = new WatchedUsersFile(path);
    });
    afterAll(() => rmSync(directory, { recursive: true }));

    const peers = usePeers(options);
    const connect = (username: string, fields: Fields = {}) =>
      peers.connect({ username, password: 'secret', clientId: username, ...fields });

    /** Two users with a subscription each: one that stays, and one that the change is about. */
    async function twoWatchers() {
      const [kept, changed, topic] = [unique('kept'), unique('changed'), unique('t')];
      for (const name of [kept, changed]) user(name, { publish: [], subscribe: ['#'] });
      write();
      await file.look();
      const clients = [await connect(kept, stays), await connect(changed, stays)] as const;
      for (const { client } of clients) await subscribe(client, topic, { qos: 1 });
      return { kept: clients[0].client, changed: clients[1].client, name: changed, topic };
    }

    it('ends the subscriptions of a connected user that are no longer allowed [SEC-RULES-6]', async () => {
      const { kept, changed, name, topic } = await twoWatchers();
      user(name, { publish: [], subscribe: ['other'] });
      write();
      await file.look();
      const bob = await connect('bob');
      await expect
        .poll(async () => {
          await publish(bob.client, { topic, payload: 'x', qos: 1 });
          await expectMessage(kept, 'x');
          return await changed.expectNothing().then(
            () => 'nothing',
            () => 'a message',
          );
        })
        .toBe('nothing');
    });

    it('ends the connections and the sessions of a user who was taken out [SEC-RULES-6]', async () => {
      const { changed, name } = await twoWatchers();
      const [, phone] = [name, `${name}-phone`];
      const waiting = await connect(name, { ...stays, clientId: phone });
      await waiting.client.disconnect();
      const before = users.get(name);
      users.delete(name);
      write();
      await file.look();
      await expectDisconnect(changed, 0x87);
      expect((await connect(name, stays)).connack.reasonCode).toBe(0x86);
      users.set(name, before ?? {});
      write();
      await file.look();
      for (const clientId of [name, phone])
        expect((await connect(name, { ...stays, clientId })).connack).toMatchObject({
          reasonCode: 0,
          sessionPresent: false,
        });
    });
  },
);
