import { Kind } from '@apus/store-disk';
import { expect, it } from 'vitest';
import { HubUsers } from '../src/hub-users.ts';
import { HubKind } from '../src/storage/layout.ts';
import { Records } from '../src/storage/records.ts';
import { SimulatedObject } from './object/simulated-object.ts';

const TENANT = 'default';
const HASH = `scrypt:16384:8:1:${'a'.repeat(22)}:${'b'.repeat(43)}`;
const userOf = (name: string, publish: readonly string[] = []) => ({
  ...{ name, password: HASH, publish, subscribe: [] },
});

/** The users of a hub over these rows, as it has woken up. */
function woken(object: SimulatedObject, limits?: { readonly usersMax: number; readonly bytesMax: number }) {
  const users = new HubUsers(new Records(object.storage), limits);
  const known = users.usersOf({ tenant: TENANT, source: 'users' });
  return { known, table: users.table(async () => {}) };
}

it('keeps records of its own under letters that no store uses', () => {
  const letters = [...Object.values(HubKind), ...Object.values(Kind)];
  expect(new Set(letters).size).toBe(letters.length);
});

it('reads the row of a user who is asked for, and no other', async () => {
  const object = new SimulatedObject();
  for (const name of ['ann', 'bob', 'eve']) await woken(object).table.add(TENANT, userOf(name, [name]));
  object.rowsRead = 0;
  const { known } = woken(object);
  expect(object.rowsRead).toBe(0);
  for (let time = 0; time < 3; time += 1) expect(known.get('bob')?.name).toBe('bob');
  expect(object.rowsRead).toBe(1);
});

const BYTES = JSON.stringify(userOf('a')).length;

it.each([
  ['users', { usersMax: 2, bytesMax: 10 * BYTES }],
  ['bytes of users', { usersMax: 10, bytesMax: 2 * BYTES }],
])('adds none beyond its limit of %s, until one is removed', async (_what, limits) => {
  const object = new SimulatedObject();
  const { table } = woken(object, limits);
  const add = (users: typeof table, name: string) => users.add(TENANT, userOf(name));
  expect([await add(table, 'a'), await add(table, 'b'), await add(table, 'b')]).toEqual([true, true, false]);
  await expect(async () => await add(table, 'c')).rejects.toThrow('at most');
  const { table: later, known } = woken(object, limits);
  await expect(async () => await add(later, 'c')).rejects.toThrow('at most');
  expect(known.get('c')).toBeUndefined();
  expect(await later.remove(TENANT, 'a')).toEqual({ isRemoved: true });
  expect(await add(later, 'c')).toBe(true);
  expect(known.get('c')?.name).toBe('c');
});

it('has the users of each tenant apart [SEC-TENANT-4]', async () => {
  const object = new SimulatedObject();
  await woken(object).table.add(TENANT, userOf('bob'));
  const users = new HubUsers(new Records(object.storage));
  const known = users.usersOf({ tenant: 'others', source: 'users' });
  expect(known.get('bob')).toBeUndefined();
  const table = users.table(async () => {});
  expect(await table.part('others', { from: 0, limit: 10 })).toMatchObject({ entries: [], count: 0 });
  await expect(async () => await table.add(TENANT, userOf('eve'))).rejects.toThrow(TENANT);
});
