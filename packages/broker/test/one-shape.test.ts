import { setFlagsFromString } from 'node:v8';
import { ReasonCode } from '@apus/mqtt';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AuthenticationMethod } from '../src/index.ts';
import { ofOneShape } from '../src/model/one-shape.ts';
import { connectPacket, FakeDoor, type FakeLink } from './support/fake-door.ts';

/** Enough for V8 to know the places where objects are made. */
const CLIENTS = 40;

/** V8's own answer. */
function haveOneHiddenClass(objects: readonly object[]): boolean {
  setFlagsFromString('--allow-natives-syntax');
  const isSame = new Function('one', 'other', 'return %HaveSameMap(one, other)');
  setFlagsFromString('--no-allow-natives-syntax');
  return objects.slice(1).every((each, index) => isSame(objects[index], each));
}

/** More first properties than V8 keeps hidden classes for, as a process meets that parses many payloads of JSON. */
const FIRST_PROPERTIES = 3_000;

function connectionOf({ state }: FakeLink) {
  if (state.phase !== 'connected') throw new Error(`expected a connected client, not ${state.phase}`);
  return state.connection;
}

describe('objects that live as long as a connection', () => {
  beforeAll(() => {
    const met = Array.from({ length: FIRST_PROPERTIES }, (_, name) => ({ [`first${name}`]: name }));
    expect(haveOneHiddenClass(met)).toBe(false);
  });

  it('have one hidden class for all clients', async () => {
    const door = new FakeDoor({});
    const links: FakeLink[] = [];
    for (let client = 0; client < CLIENTS; client += 1) {
      const link = await door.connect({ clientId: `c${client}` });
      await door.subscribe(link, `of/${client}`, 1);
      links.push(link);
    }
    // The first ones are made while V8 learns.
    const later = links.slice(CLIENTS / 2).map(connectionOf);
    expect(haveOneHiddenClass(later)).toBe(true);
    expect(haveOneHiddenClass(later.map(({ identity }) => identity))).toBe(true);
    expect(haveOneHiddenClass(later.map(({ session }) => session))).toBe(true);
    const subscriptions = [];
    for (let client = CLIENTS / 2; client < CLIENTS; client += 1) {
      const matched = await door.stores.subscriptions.match('default', `of/${client}`);
      for (const { subscribers } of matched)
        subscriptions.push(...subscribers.map((each) => each.subscription));
    }
    expect(subscriptions).toHaveLength(CLIENTS / 2);
    expect(haveOneHiddenClass(subscriptions)).toBe(true);
  });

  it('have one hidden class when clients have renewed their identities', async () => {
    const method: AuthenticationMethod = {
      name: 'PROOF',
      begin(_data, _credentials) {
        const claims = { tenant: 'default', name: 'ada', clientIds: ['+'] };
        return { outcome: 'success', data: undefined, identity: { ...claims, source: 'token' } };
      },
      continue: () => ({ outcome: 'failure', refused: ReasonCode.NotAuthorized, reason: 'one step is all' }),
    };
    const door = new FakeDoor({ methods: [method] });
    const properties = { authenticationMethod: method.name };
    const renewed = [];
    for (let client = 0; client < CLIENTS; client += 1) {
      const link = door.open();
      await door.broker.receive(link, connectPacket({ clientId: `c${client}`, properties }));
      const before = connectionOf(link).identity;
      await door.broker.receive(link, { type: 'auth', reasonCode: ReasonCode.ReAuthenticate, properties });
      renewed.push(connectionOf(link).identity);
      expect(renewed.at(-1)).not.toBe(before);
    }
    expect(haveOneHiddenClass(renewed.slice(CLIENTS / 2))).toBe(true);
  });

  it('are copied into one where they come from elsewhere', () => {
    const given = Array.from({ length: CLIENTS }, (_, name) => ({ ...{ tenant: 'default' }, name }));
    const copies = given.map((each) => ofOneShape({ ...each, source: 'token' }));
    expect(haveOneHiddenClass(copies)).toBe(true);
    expect(copies[7]).toEqual({ tenant: 'default', name: 7, source: 'token' });
  });
});
