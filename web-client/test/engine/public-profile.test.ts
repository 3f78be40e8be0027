import { expect, test } from 'vitest';
import { newProfile, newSubscription } from '../../src/engine/new-profile.ts';
import { publicProfile, splitUrl } from '../../src/engine/public-profile.ts';
import { readProfile } from '../../src/engine/read-profile.ts';
import type { ConnectionProfile } from '../../src/engine/types.ts';

const FULL: ConnectionProfile = {
  ...newProfile('wss://broker.example/mqtt?region=eu', 'Wetter – Küste ☂'),
  door: 'gateway',
  protocolVersion: 5,
  clientId: 'ada',
  username: 'ada',
  cleanStart: false,
  sessionExpiryIntervalSeconds: 3_600,
  receiveMaximum: 20,
  maximumPacketSizeBytes: 10_000,
  topicAliasMaximum: 5,
  requestResponseInformation: true,
  requestProblemInformation: false,
  userProperties: [['region', 'eu']],
  authenticationMethod: 'SCRAM',
  will: {
    topic: 'last/words',
    payload: 'bye',
    qos: 1,
    retain: true,
    delayIntervalSeconds: 5,
    properties: { contentType: 'text/plain', userProperties: [['a', 'b']] },
  },
  heartbeatSeconds: 60,
  needs: { password: true, token: true },
  storeSecrets: true,
  subscriptions: [{ ...newSubscription('$share/g/a/#'), alias: 'all', noLocal: true, identifier: 7 }],
};

/** A profile but for what identifies it here. */
function content(profile: ConnectionProfile | undefined): unknown {
  if (profile === undefined) return undefined;
  return JSON.parse(
    JSON.stringify({
      ...profile,
      id: '',
      storeSecrets: false,
      keepsMessages: undefined,
      subscriptions: profile.subscriptions.map((subscription) => ({ ...subscription, id: '' })),
    }),
  );
}

test('an exported profile brings back the whole configuration under a new id', () => {
  const read = readProfile(JSON.parse(JSON.stringify(publicProfile(FULL))));
  expect(content(read)).toEqual(content(FULL));
  expect(read?.id).not.toBe(FULL.id);
});

test('secrets are left out wherever they hide', () => {
  const profile: ConnectionProfile = {
    ...FULL,
    url: 'wss://ada:hunter2@broker.example/mqtt?token=hunter2&x-amz-signature=hunter2&region=eu',
    userProperties: [
      ['authorization', 'hunter2'],
      ['region', 'eu'],
    ],
    needs: { password: false, token: false },
  };
  const exported = publicProfile(profile);
  expect(JSON.stringify(exported)).not.toContain('hunter2');
  expect(exported.url).toBe('wss://broker.example/mqtt?region=eu');
  expect(exported.userProperties).toEqual([['region', 'eu']]);
  expect(exported.needs).toEqual({ password: true, token: true });
});

test('invalid values are replaced by their defaults', () => {
  const profile = readProfile({
    url: 'ws://x/mqtt',
    door: 'cellar',
    keepAliveSeconds: -1,
    cleanStart: 'yes',
    will: { payload: 'no topic' },
    subscriptions: [{ filter: 'a' }, { filter: '' }, 5],
    userProperties: [['a', 'b'], ['c'], 'd'],
  });
  expect(profile).toMatchObject({
    door: 'auto',
    keepAliveSeconds: 60,
    cleanStart: true,
    userProperties: [['a', 'b']],
  });
  expect(profile?.will).toBeUndefined();
  expect(profile?.subscriptions.map(({ filter }) => filter)).toEqual(['a']);
});

test('credentials in a URL move to their own fields', () => {
  expect(splitUrl('wss://ada:p%40ss@x.example/mqtt?jwt=abc&a=1', 'jwt')).toEqual({
    url: 'wss://x.example/mqtt?a=1',
    username: 'ada',
    secrets: { password: 'p@ss', token: 'abc' },
  });
  expect(splitUrl('ws://x.example/mqtt', 'token').url).toBe('ws://x.example/mqtt');
});
