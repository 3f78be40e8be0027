import { hashPassword } from '@apus/identity';
import { beforeEach, describe, expect, it } from 'vitest';
import { attachmentOf, openOf } from '../../../broker/contract/samples.ts';
import { createOperator, type OperatorAnswer, type OperatorBan } from '../../src/operator/create-operator.ts';
import { TimersWorld } from '../support/timers-world.ts';

const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const OWN = 'acme';
const OTHER = 'other';

let world: TimersWorld;
beforeEach(async () => {
  world = await TimersWorld.create();
});

/** The operator's function, in a process of its own. */
async function ask(request: object): Promise<OperatorAnswer> {
  const { environment, stores } = world.process().cloud;
  const { sessions, bans, users, sweepScan: scan } = stores;
  const clock = { now: () => world.time.nowMs };
  const sleep = async () => {};
  const operator = createOperator({ environment, scan, sessions, bans, users, clock, sleep, log: LOG });
  return await operator(request, { getRemainingTimeInMillis: () => 60_000 });
}

describe('the operator’s function, asked for another tenant with the same names [SEC-TENANT-5]', () => {
  beforeEach(async () => {
    const password = await hashPassword(Buffer.from('right'));
    await ask({
      action: 'add-user',
      tenant: OWN,
      user: { name: 'ann', password, publish: [], subscribe: [] },
    });
    await ask({ action: 'ban', tenant: OWN, as: 'username', who: 'eve' });
    const identity = { tenant: OWN, name: 'ann' };
    const opened = openOf('phone', { tenant: OWN, identity, attachment: attachmentOf('phone-1') });
    await world.process().cloud.stores.sessions.open(opened);
  });

  it.each([
    [{ action: 'clients' }, { clients: [] }],
    [{ action: 'clients', clientId: 'phone' }, { clients: [] }],
    [{ action: 'clients', username: 'ann' }, { clients: [] }],
    [{ action: 'kick', clientId: 'phone' }, { kicked: false }],
    [{ action: 'bans' }, { bans: [] }],
    [{ action: 'unban', as: 'username', who: 'eve' }, { unbanned: false }],
    [{ action: 'ban', as: 'clientid', who: 'phone' }, { expelled: 0 }],
    [{ action: 'revoke', token: 'ann' }, { expelled: 0 }],
    [{ action: 'users' }, { users: [] }],
    [
      { action: 'remove-user', name: 'ann' },
      { removed: false, expelled: 0 },
    ],
    [{ action: 'streams' }, { streams: [] }],
  ])('%j sees and changes nothing', async (request, nothing) => {
    expect(await ask({ ...request, tenant: OTHER })).toMatchObject(nothing);
    expect(await ask({ action: 'clients', tenant: OWN })).toMatchObject({ clients: [{ clientId: 'phone' }] });
    expect(await ask({ action: 'users', tenant: OWN })).toMatchObject({ users: [{ name: 'ann' }] });
    expect(await ask({ action: 'bans', tenant: OWN })).toMatchObject({ bans: [{ who: 'eve', tenant: OWN }] });
    expect(await world.process().cloud.stores.sessions.get(OWN, 'phone')).toMatchObject({
      attachment: { connectionId: 'phone-1' },
    });
  });

  it('lists bans of addresses to every tenant, and all bans where no tenant is named', async () => {
    await ask({ action: 'ban', tenant: OTHER, as: 'peerhost', who: '192.0.2.1' });
    await ask({ action: 'ban', tenant: OTHER, as: 'clientid', who: 'phone' });
    const whosOf = async (request: object) => {
      const { bans } = (await ask({ action: 'bans', ...request })) as {
        readonly bans: readonly OperatorBan[];
      };
      return bans.map(({ who }) => who).sort();
    };
    expect(await whosOf({ tenant: OWN })).toEqual(['192.0.2.1', 'eve']);
    expect(await whosOf({ tenant: OTHER })).toEqual(['192.0.2.1', 'phone']);
    expect(await whosOf({})).toEqual(['192.0.2.1', 'eve', 'phone']);
  });
});
