import { createDiskStores, type DiskStores } from '@apus/store-disk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/directory.ts';
import { attachmentOf, detachOf, NOW_MS, openedOf, openOf, TENANT } from './support/values.ts';

describe('a session on disk', () => {
  let directory: string;
  let stores: DiskStores;

  beforeEach(async () => {
    directory = temporaryDirectory();
    stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
  });
  afterEach(async () => await stores.close());

  const restart = async () => {
    await stores.close();
    stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
  };
  const open = (connection: string, name: string, fields: object = {}) =>
    stores.sessions.open(
      openOf('a', { attachment: attachmentOf(connection), identity: { tenant: TENANT, name }, ...fields }),
    );

  it('has the same owner after a restart [SEC-OWNER-1]', async () => {
    const { session } = openedOf(await open('1', 'ada', { bindingRank: 1 }));
    await stores.sessions.detach(detachOf(session));
    await restart();
    expect(await open('2', 'mallory', { bindingRank: 1 })).toBe('owned-by-another');
    expect(openedOf(await open('3', 'ada', { bindingRank: 1 })).present).toBe(true);
  });
});
