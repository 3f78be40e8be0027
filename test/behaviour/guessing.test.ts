import { hashPassword, parseUsers, UsersAuthenticator } from '@apus/identity';
import { describe, expect, it } from 'vitest';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { usePeers } from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

ownDoor(`a guesser of passwords (${OPTIONS_NEED_OUR_DOOR})`, async () => {
  const password = await hashPassword(Buffer.from('correct horse'));
  const entries = ['ada', 'bob'].map((name) => ({ name, password, publish: [], subscribe: [] }));
  const users = parseUsers(JSON.stringify({ users: entries }), 'users.json');
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => nowMs };
  const peers = usePeers({ authenticator: new UsersAuthenticator({ users, tenant: 'default', clock }) });
  const answerTo = async (username: string, password: string, protocolVersion = 5) => {
    const { connack } = await peers.connect({ username, password, protocolVersion });
    return connack.reasonCode ?? connack.returnCode;
  };

  it('has five tries at a name; then the right password too is refused with 0x9F, until it has waited [SEC-GUESS-1]', async () => {
    for (let guess = 0; guess < 5; guess++) expect(await answerTo('ada', `wrong ${guess}`)).toBe(0x86);
    expect(await answerTo('ada', 'correct horse')).toBe(0x9f);
    expect(await answerTo('ada', 'correct horse', 4)).toBe(3);
    nowMs += 1_000;
    expect(await answerTo('ada', 'correct horse')).toBe(0);
  });

  it('at many names keeps no user out, not even at the same address [SEC-GUESS-2]', async () => {
    for (let guess = 0; guess < 40; guess++) expect(await answerTo(`name ${guess}`, 'wrong')).toBe(0x86);
    expect(await answerTo('bob', 'correct horse')).toBe(0);
  });

  it('at one name does not keep others out, not even at the same address', async () => {
    for (let guess = 0; guess < 5; guess++) expect(await answerTo('ada', `wrong ${guess}`)).toBe(0x86);
    expect(await answerTo('ada', 'wrong')).toBe(0x9f);
    expect(await answerTo('bob', 'correct horse')).toBe(0);
  });
});
