import { type Identity, rulesOfLists } from '@apus/broker';
import { expect, it } from 'vitest';
import { RawClient } from '../../../../test/support/raw-client.ts';
import { nodeForTest } from '../support/nodes.ts';

/** A client is who its user name says. */
const nodeWhere = (rules: Pick<Identity, 'rules'>) =>
  nodeForTest({
    authenticator: { authenticate: ({ username = '' }) => ({ tenant: 'default', name: username, ...rules }) },
  });

async function reasonCodesOf(url: string, username: string): Promise<unknown[]> {
  const { client } = await RawClient.connect(url, { username, clientId: username });
  const subscription = { topic: 'a', qos: 0, nl: false, rap: false, rh: 0 } as const;
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [subscription] });
  const { granted } = await client.expect('suback');
  client.send({ cmd: 'publish', topic: 'b', payload: 'x', qos: 1, messageId: 2, dup: false, retain: false });
  const { reasonCode } = await client.expect('puback');
  return [...(granted as number[]), reasonCode];
}

it('startNode with an authenticator and no authorizer lets a known name do nothing that no rule allows [SEC-RULES-7]', async () => {
  const { url } = await nodeWhere({});
  expect(await reasonCodesOf(url, 'ada')).toEqual([0x87, 0x87]);
});

it('startNode with an authenticator and no authorizer goes by the rules of the identity [SEC-RULES-7]', async () => {
  const { url } = await nodeWhere({ rules: rulesOfLists([], ['a']) });
  expect(await reasonCodesOf(url, 'ada')).toEqual([0, 0x87]);
});

it('startNode without an authenticator allows everything', async () => {
  const { url } = await nodeForTest();
  expect(await reasonCodesOf(url, 'ada')).toEqual([0, 0x10]);
});
