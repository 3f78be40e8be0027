import { expect, it } from 'vitest';
import { checkSettings } from '../cli/check-settings.ts';
import type { SettingName } from '../lib/settings.ts';

const check = (settings: Partial<Record<SettingName, string>>) =>
  checkSettings(new Map(Object.entries(settings) as [SettingName, string][]));

it('settings are checked before the first request to AWS', async () => {
  await expect(check({ framesPerSecond: 'many' })).rejects.toThrow(
    '--frames-per-second is a whole number, not "many".',
  );
  await expect(check({ framesPerSecond: '0' })).rejects.toThrow(
    'throttle.framesPerSecond is a whole number from 1 to 1,000,000, not 0.',
  );
  await expect(check({ httpPublish: 'open' })).rejects.toThrow('--http-publish is one of iam, keys, none');
  await expect(check({ tokenPublish: 'a/#/b' })).rejects.toThrow('tokenDefaultRules.publish: A topic filter');
  await expect(check({ domainName: 'mqtt.example.com' })).rejects.toThrow('need each other');
});

it('valid settings pass', async () => {
  await expect(check({})).resolves.toBeUndefined();
  await expect(check({ framesPerSecond: '50', httpPublish: 'iam' })).resolves.toBeUndefined();
});
