import { ReasonCode, type Will } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { type Ban, BanList } from '../src/index.ts';
import { FakeDoor } from './support/fake-door.ts';

const WILL: Will = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: false, properties: {} };
const LASTING = {
  clientId: 'phone',
  username: 'anna',
  cleanStart: false,
  properties: { sessionExpiryInterval: 600 },
};

/** A door whose clients are who their user name says, with the password as the id of their token. */
function doorWithBans(isAsync: boolean) {
  const bans = new BanList({ now: () => 0 });
  const door = new FakeDoor({
    isAsync,
    bans,
    authenticator: {
      authenticate: ({ username = '', password }) => ({
        tenant: 'default',
        name: username,
        clientIds: ['+'],
        ...(password !== undefined && { tokenId: Buffer.from(password).toString() }),
      }),
    },
  });
  const ban = (fields: Pick<Ban, 'as' | 'who'>): Ban => {
    const made: Ban = {
      tenant: fields.as === 'peerhost' ? '' : 'default',
      by: '',
      reason: 'spam',
      atMs: 0,
      ...fields,
    };
    bans.add(made);
    return made;
  };
  return { door, bans, ban };
}

describe.each([{ isAsync: false }, { isAsync: true }])(
  'bans, ports answer later: $isAsync',
  ({ isAsync }) => {
    it.each([
      ['clientid', 'phone', ReasonCode.Banned],
      ['username', 'anna', ReasonCode.Banned],
      ['peerhost', '127.0.0.1', ReasonCode.Banned],
      ['token', 'jti-1', ReasonCode.NotAuthorized],
    ] as const)(
      'CONNECT of a banned %s is refused, and leaves no session [SEC-BAN-1]',
      async (as, who, reasonCode) => {
        const { door, ban } = doorWithBans(isAsync);
        ban({ as, who });
        const link = await door.connect({ ...LASTING, password: Buffer.from('jti-1') });
        expect(link.take()).toMatchObject([{ type: 'connack', reasonCode }]);
        expect(link.isOpen).toBe(false);
        expect(await door.stores.sessions.get('default', 'phone')).toBeUndefined();
      },
    );

    it.each([
      ['username', 'anna', ReasonCode.AdministrativeAction],
      ['token', 'jti-1', ReasonCode.NotAuthorized],
    ] as const)(
      'a packet of a client that was banned by its %s is not handled: its session ends without its will [SEC-BAN-1]',
      async (as, who, reasonCode) => {
        const { door, ban } = doorWithBans(isAsync);
        const watcher = await door.connect({ clientId: 'watcher' });
        await door.subscribe(watcher, '#', 1);
        const link = await door.connect({ ...LASTING, password: Buffer.from('jti-1'), will: WILL });
        await door.subscribe(link, 'a');
        watcher.take();
        link.take();
        ban({ as, who });
        await door.publish(link, 'a', 'x', { qos: 1 });
        expect(link.take()).toMatchObject([{ type: 'disconnect', reasonCode }]);
        expect(link.isOpen).toBe(false);
        await door.advance(3_600);
        expect(watcher.take()).toEqual([]);
        expect(await door.stores.sessions.get('default', 'phone')).toBeUndefined();
        expect(await door.stores.subscriptions.match('default', 'a')).toHaveLength(1);
      },
    );

    it('a kick ends the connection, sends the will, and leaves the session', async () => {
      const { door } = doorWithBans(isAsync);
      const watcher = await door.connect({ clientId: 'watcher' });
      await door.subscribe(watcher, 'will');
      const link = await door.connect({ ...LASTING, will: WILL });
      for (const each of [watcher, link]) each.take();
      const kick = {
        reasonCode: ReasonCode.AdministrativeAction,
        reason: 'an administrator',
        endsSession: false,
        publishesWill: true,
      };
      expect(await door.broker.expel('default', 'phone', kick)).toBe(true);
      expect(link.take()).toMatchObject([
        { type: 'disconnect', reasonCode: ReasonCode.AdministrativeAction },
      ]);
      expect(watcher.take()).toMatchObject([{ type: 'publish', topic: 'will' }]);
      expect(await door.broker.expel('default', 'phone', kick)).toBe(false);
      const again = await door.connect(LASTING);
      expect(again.take()).toMatchObject([{ type: 'connack', sessionPresent: true }]);
    });
  },
);
