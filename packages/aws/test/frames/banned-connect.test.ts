import { type Ban, BanList, type LinkState } from '@apus/broker';
import { Handshakes } from '@apus/identity';
import { describe, expect, it } from 'vitest';
import { type ConnectOptions, handleConnect, SUBPROTOCOL } from '../../src/index.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const handshakes = new Handshakes({
  chain: { verify: (token) => ({ tenant: 'default', name: 'anna', tokenId: token }) },
  allowsPassword: false,
});

function setUp(...bans: Pick<Ban, 'as' | 'who'>[]) {
  const saved: LinkState[] = [];
  const clock = { now: () => 0 };
  const links: ConnectOptions['links'] = {
    save: (_connectionId, state) => saved.push(state) > 0,
  };
  const list = new BanList(clock);
  for (const { as, who } of bans)
    list.add({ as, who, tenant: as === 'peerhost' ? '' : 'default', by: '', reason: 'spam', atMs: 0 });
  const connect = (options: Partial<ConnectOptions>, token?: string) =>
    handleConnect(
      { links, handshakes, bans: list, log: silent, ...options },
      {
        headers: { 'Sec-WebSocket-Protocol': SUBPROTOCOL },
        queryStringParameters: token === undefined ? null : { token },
        requestContext: {
          routeKey: '$connect',
          eventType: 'CONNECT',
          connectionId: 'c=',
          requestId: 'r',
          apiId: 'a',
          stage: 's',
          domainName: 'd',
          connectedAt: 0,
          requestTimeEpoch: 0,
          identity: { sourceIp: '2001:DB8::1' },
        },
      },
    );
  return { connect, saved, list };
}

describe('$connect of a banned client', () => {
  it.each([
    ['username', 'anna'],
    ['token', 'jti-1'],
    ['peerhost', '2001:db8::1'],
  ] as const)('is refused by its %s, and nothing is stored [SEC-BAN-1]', async (as, who) => {
    const { connect, saved } = setUp({ as, who });
    const { statusCode, body } = await connect({}, 'jti-1');
    expect(statusCode).toBe(403);
    expect(body).not.toContain('spam');
    expect(saved).toEqual([]);
  });

  it('is refused by its address where no token is asked for', async () => {
    const { connect } = setUp({ as: 'peerhost', who: '2001:db8::1' });
    expect((await connect({ handshakes: undefined })).statusCode).toBe(403);
  });

  it('is taken with another token of the same name', async () => {
    const { connect, saved } = setUp({ as: 'token', who: 'jti-1' });
    expect((await connect({}, 'jti-2')).statusCode).toBe(200);
    expect(saved).toHaveLength(1);
  });

  it('reads the list of bans before it decides', async () => {
    const { connect, list } = setUp();
    const ban: Ban = { as: 'username', who: 'anna', tenant: 'default', by: '', reason: '', atMs: 0 };
    const bans = {
      banOn: list.banOn.bind(list),
      banOnHost: list.banOnHost.bind(list),
      holderOf: list.holderOf.bind(list),
      refresh: async () => void list.add(ban),
    };
    expect((await connect({ bans }, 'jti-1')).statusCode).toBe(403);
  });
});
