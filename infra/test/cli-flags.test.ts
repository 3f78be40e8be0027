import { describe, expect, it } from 'vitest';
import { contextArguments, helpOfFlags, parseFlags } from '../cli/flags.ts';
import { requireSameRegion, settingsFrom } from '../cli/read-settings.ts';
import { summaryOf } from '../cli/summary.ts';
import { targetOf } from '../lib/context.ts';
import { flagOf, SETTING_NAMES } from '../lib/settings.ts';

const EXTRAS = { help: { help: 'Shows this text.' } };

describe('flags', () => {
  it('become context under their names in camel case', () => {
    const { settings } = parseFlags(['--frames-per-second', '50', '--name=mine'], SETTING_NAMES, EXTRAS);
    expect(contextArguments(settings)).toEqual(['--context', 'name=mine', '--context', 'framesPerSecond=50']);
  });

  it('that are switches need no value', () => {
    const { settings } = parseFlags(
      ['--tracing', '--dashboard', 'false', '--access-logs'],
      SETTING_NAMES,
      EXTRAS,
    );
    expect(Object.fromEntries(settings)).toEqual({ tracing: 'true', dashboard: 'false', accessLogs: 'true' });
  });

  it.each([
    [['--nmae', 'x'], '--nmae is no flag. Did you mean --name? --help shows all flags.'],
    [['--framePerSecond', '1'], '--framePerSecond is no flag. Did you mean --frames-per-second?'],
    [['--colour', 'x'], "Unknown option '--colour'. --help shows all flags."],
    [['--name'], '--name lacks its value. --help shows all flags.'],
    [['--frames-per-second', '-1'], '--frames-per-second lacks its value. --help shows all flags.'],
    [['now'], "Unexpected argument 'now'. This command does not take positional arguments"],
  ])('%j is refused', (args, sentence) => {
    expect(() => parseFlags(args, SETTING_NAMES, EXTRAS)).toThrow(sentence.replace(/ This command .*$/, ''));
  });

  it('are all in the help', () => {
    const help = helpOfFlags(SETTING_NAMES, EXTRAS);
    for (const name of SETTING_NAMES) expect(help).toContain(`  ${flagOf(name)} `);
  });
});

describe('settings of a command', () => {
  it('are its flags, and then those of cdk.json, as in the app', () => {
    const { settings } = parseFlags(['--region', 'eu-west-1'], SETTING_NAMES, EXTRAS);
    const read = settingsFrom({ settings }, { region: 'us-east-1', name: 'prod' });
    expect(targetOf(read)).toEqual({ stackName: 'prod', account: undefined, region: 'eu-west-1' });
  });

  it.each([
    [
      'tokenSecretArn',
      'arn:aws:secretsmanager:us-east-1:123456789012:secret:mine-a1B2c3',
      '--token-secret-arn',
    ],
    ['certificateArn', 'arn:aws:acm:us-east-1:123456789012:certificate/1', '--certificate-arn'],
  ])('%s is in the Region that is deployed to', (name, arn, flag) => {
    const read = settingsFrom({ settings: new Map() }, { [name]: arn });
    expect(() => requireSameRegion(read, 'eu-west-1')).toThrow(
      `${flag} is in us-east-1, and the broker is deployed to eu-west-1: they have to be in one Region.`,
    );
    expect(() => requireSameRegion(read, 'us-east-1')).not.toThrow();
  });
});

describe('the output of a deployment', () => {
  const deployed = { stackName: 'apus', accountId: '1', region: 'eu-west-1' };

  it('says where clients connect, and how to get a token', () => {
    const text = summaryOf({ Url: 'wss://x/mqtt', TokenSecretArn: 'arn:secret' }, deployed);
    expect(text).toContain('  wss://x/mqtt\n');
    expect(text).toContain('apus token --secret-id arn:secret ');
  });

  it('says where backends publish, and with which credentials', () => {
    const outputs = { Url: 'wss://x/mqtt', HttpPublishUrl: 'https://y/' };
    expect(summaryOf(outputs, deployed)).toContain('https://y/api/v5/publish, with requests that are signed');
    expect(summaryOf({ ...outputs, PublishKeysArn: 'arn:keys' }, deployed)).toContain(
      'in the secret arn:keys',
    );
  });

  it('leaves out features that are off', () => {
    const text = summaryOf({ Url: 'wss://x/mqtt' }, deployed);
    expect(text).not.toContain('token');
    expect(text).not.toContain('Backends');
  });
});
