import { type AuthPacket, ReasonCode } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import type { AuthenticationMethod, Identity, Peer } from '../src/index.ts';
import { connectPacket, FakeDoor } from './support/fake-door.ts';

const METHOD = 'PROOF';
const ADA: Identity = { tenant: 'default', name: 'ada', clientIds: ['+'] };

/** Takes what the handshake has shown, as the methods of tokens do it in CONNECT. */
const method: AuthenticationMethod = {
  name: METHOD,
  begin(_data, { peer }) {
    if (peer.identity !== undefined) return { outcome: 'success', data: undefined, identity: peer.identity };
    return { outcome: 'failure', refused: ReasonCode.NotAuthorized, reason: 'nothing was shown' };
  },
  continue: () => ({ outcome: 'failure', refused: ReasonCode.NotAuthorized, reason: 'one step is all' }),
};

const properties = { authenticationMethod: METHOD };
const AUTH: AuthPacket = { type: 'auth', reasonCode: ReasonCode.ReAuthenticate, properties };

describe.each([{ isAsync: false }, { isAsync: true }])(
  'a connection whose handshake named an identity, ports answer later: $isAsync',
  ({ isAsync }) => {
    it('has that identity in CONNECT, and needs credentials in AUTH to renew it [SEC-EXPIRY-5]', async () => {
      const door = new FakeDoor({ isAsync, methods: [method] });
      const link = door.open();
      Object.assign<object, { peer: Peer }>(link, { peer: { ...link.peer, identity: ADA } });
      await door.broker.receive(link, connectPacket({ clientId: 'ada', properties }));
      expect(link.take()).toMatchObject([{ type: 'connack', reasonCode: ReasonCode.Success }]);
      await door.broker.receive(link, AUTH);
      expect(link.take()).toMatchObject([{ type: 'disconnect', reasonCode: ReasonCode.NotAuthorized }]);
      expect(link.isOpen).toBe(false);
    });
  },
);
