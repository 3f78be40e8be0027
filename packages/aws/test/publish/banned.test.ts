import type { Ban } from '@apus/broker';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Process, World } from '../support/fan-out.ts';
import { KEY, PublishEndpoint } from '../support/publish.ts';

const MESSAGE = { topic: 'a', payload: 'x', qos: 1 };
const ROLE = 'arn:aws:sts::123456789012:assumed-role/backend/i-1';

let world: World;
let process: Process;
let endpoint: PublishEndpoint;

beforeEach(async () => {
  world = await World.create();
  process = world.process();
  const keys = [{ name: 'orders', key: KEY }];
  endpoint = new PublishEndpoint(world, process, { readKeys: async () => JSON.stringify({ keys }) });
});

/** As another process bans. */
async function ban(fields: Pick<Ban, 'as' | 'who'>): Promise<void> {
  const tenant = fields.as === 'peerhost' ? '' : 'default';
  const { bans } = world.process().cloud.stores;
  expect(await bans.add({ tenant, by: '', reason: 'spam', atMs: 0, ...fields })).toBe(true);
}

describe('the publish endpoint', () => {
  it.each([
    { as: 'username', who: 'orders' },
    { as: 'token', who: 'orders' },
    { as: 'peerhost', who: '192.0.2.1' },
  ] as const)(
    'takes nothing half a minute after a ban of the $as of its caller [SEC-BAN-3]',
    async (fields) => {
      const from = { sourceIp: '192.0.2.1' };
      expect((await endpoint.publish(MESSAGE, from)).status).toBe(202);
      await ban(fields);
      world.time.nowMs += 30_000;
      const { status, body } = await endpoint.publish(MESSAGE, from);
      expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
      expect(body.message).not.toContain('spam');
    },
  );

  it('takes nothing from a role that is banned by its ARN', async () => {
    const signed = new PublishEndpoint(world, process, { readKeys: undefined });
    expect((await signed.publish(MESSAGE, { signedBy: ROLE })).status).toBe(202);
    await ban({ as: 'username', who: ROLE });
    world.time.nowMs += 30_000;
    expect((await signed.publish(MESSAGE, { signedBy: ROLE })).status).toBe(403);
  });

  it('looks at no key of an address that is banned', async () => {
    let reads = 0;
    const readKeys = async () => {
      reads += 1;
      return KEY;
    };
    await ban({ as: 'peerhost', who: '2001:db8::1' });
    const other = new PublishEndpoint(world, process, { readKeys });
    expect((await other.publish(MESSAGE, { sourceIp: '2001:DB8::1' })).status).toBe(403);
    expect(reads).toBe(0);
    expect((await other.publish(MESSAGE, { sourceIp: '2001:db8::2' })).status).toBe(202);
  });
});
