import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseFlags } from '../cli/flags.ts';
import { STAGE_FLAG, stageFile, withStage, writeStage } from '../cli/stage.ts';
import { SETTING_NAMES } from '../lib/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'apus-stage-'));
  vi.stubEnv('INIT_CWD', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const EXTRAS = { stage: STAGE_FLAG };
const flagsOf = (...args: string[]) => parseFlags(args, SETTING_NAMES, EXTRAS);
const settingsOf = (...args: string[]) => Object.fromEntries(withStage(flagsOf(...args)).settings);
const keep = (text: string) => writeFileSync(join(folder, 'apus.prod.json'), text);

describe('a stage', () => {
  it('remembers the flags of its deployment, as values of their kind', () => {
    const flags = flagsOf(
      '--stage',
      'prod',
      '--frames-per-second',
      '50',
      '--tracing',
      '--region',
      'eu-west-1',
    );
    writeStage(stageFile('prod'), withStage(flags).settings);
    const written = JSON.parse(readFileSync(join(folder, 'apus.prod.json'), 'utf8'));
    expect(written).toEqual({ name: 'apus-prod', region: 'eu-west-1', framesPerSecond: 50, tracing: true });
    expect(settingsOf('--stage', 'prod')).toEqual({
      name: 'apus-prod',
      region: 'eu-west-1',
      framesPerSecond: '50',
      tracing: 'true',
    });
  });

  it('gives way to flags of the command line', () => {
    keep('{"name": "mine", "framesPerSecond": 50}');
    expect(settingsOf('--stage', 'prod', '--frames-per-second', '60')).toEqual({
      name: 'mine',
      framesPerSecond: '60',
    });
  });

  it('that is new has a stack of its own name, and a command without a stage is as it was', () => {
    expect(settingsOf('--stage', 'test')).toEqual({ name: 'apus-test' });
    expect(settingsOf('--tracing')).toEqual({ tracing: 'true' });
  });

  it('gives a removal the name of its stack and the Region, and nothing else', () => {
    keep('{"region": "eu-west-1", "framesPerSecond": 50}');
    const flags = withStage(parseFlags(['--stage', 'prod'], ['name', 'region'], EXTRAS), ['name', 'region']);
    expect(Object.fromEntries(flags.settings)).toEqual({ name: 'apus-prod', region: 'eu-west-1' });
  });

  it.each([
    [
      '{"framePerSecond": 50}',
      'has "framePerSecond", which is no setting of Apus. Did you mean "framesPerSecond"?',
    ],
    ['{', 'apus.prod.json is no JSON'],
    ['[]', 'holds settings by their names'],
  ])('with %s in its file is refused', (text, sentence) => {
    keep(text);
    expect(() => settingsOf('--stage', 'prod')).toThrow(sentence);
  });

  it('is no path', () => {
    expect(() => settingsOf('--stage', '../prod')).toThrow('--stage has up to 64 letters');
  });
});
