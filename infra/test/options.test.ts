import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FUNCTION_OPTIONS, type Option, readOptions } from '@apus/aws/function-options';
import { describe, expect, it } from 'vitest';
import { BROKER } from '../lib/options.ts';
import { SETTING_NAMES, type Setting, settingOf } from '../lib/settings.ts';
import { optionsPage } from './support/options-page.ts';
import { newOutdir, synthApp, synthBroker } from './support/synth.ts';

const REPOSITORY = new URL('../../', import.meta.url);

/** A flag's text, and the value that a function is to read. */
function sampleOf({ kind, range, choices = [], within }: Setting): readonly [string, unknown] {
  const [choice = 'https://app.example.com'] = choices;
  const streams = [{ name: 'chat', topicFilter: 'chat/#' }];
  switch (kind) {
    case 'count':
      return [String(range?.[0]), range?.[0]];
    case 'switch':
      return ['true', true];
    case 'list':
      return [`${choice},${choice}`, [choice, choice]];
    case 'json': {
      const file = join(newOutdir(), `${within}.json`);
      writeFileSync(file, JSON.stringify({ streams }));
      return [file, streams];
    }
    default:
      return [choice, choice];
  }
}

/** The files of a folder, and of the folders in it, that name an option. */
function filesWith(name: string, folder: string): readonly string[] {
  return readdirSync(new URL(folder, REPOSITORY), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter((path) => readFileSync(new URL(`${folder}/${path}`, REPOSITORY), 'utf8').includes(name))
    .map((path) => `${folder}/${path}`);
}

describe('a row is enough: an option that functions read', () => {
  const names = SETTING_NAMES.filter((name) => (settingOf(name).prop ?? '') in FUNCTION_OPTIONS);
  const samples = names.map((name) => [name, ...sampleOf(settingOf(name))] as const);

  it('comes from its flag to the function, whatever its kind', () => {
    const template = synthApp(Object.fromEntries(samples.map(([name, text]) => [name, text])));
    const [gateway] = Object.entries(template.findResources('AWS::Lambda::Function')).flatMap(([id, each]) =>
      id.startsWith('BrokerGateway') ? [each] : [],
    );
    expect(readOptions(gateway?.Properties.Environment.Variables, FUNCTION_OPTIONS)).toEqual({
      ...Object.fromEntries(samples.map(([name, , value]) => [name, value])),
      metricsNamespace: 'Apus/apus/Broker',
    });
  });

  it.each(names.filter((name) => settingOf(name).range !== undefined))(
    '%s is refused beyond its range, by name',
    (name) => {
      const [least, most] = settingOf(name).range ?? [];
      for (const value of [Number(least) - 1, Number(most) + 1])
        expect(() => synthBroker({ [name]: value })).toThrow(`${name} is a whole number from ${least} to`);
    },
  );

  it('has the kind and the range of its row in the functions', () => {
    for (const [name, option] of Object.entries<Option>(FUNCTION_OPTIONS))
      expect(BROKER[name as keyof typeof FUNCTION_OPTIONS]).toMatchObject(option);
  });

  it.each(['resumeSeconds', 'cutAfterMs'])('%s stands in the two tables and nowhere else', (name) => {
    const folders = ['infra/lib', 'infra/cli', 'packages/aws/src/lambda'];
    expect(folders.flatMap((folder) => filesWith(name, folder))).toEqual(['infra/lib/options.ts']);
    const table = readFileSync(new URL('packages/aws/src/function-options.ts', REPOSITORY), 'utf8');
    expect(table.split(name)).toHaveLength(2);
  });
});

it('every flag is in the page of options', async () => {
  await expect(optionsPage()).toMatchFileSnapshot('../../docs/generated/options.md');
});
