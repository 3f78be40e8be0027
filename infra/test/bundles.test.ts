import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { type Bundle, bundle } from '../cli/bundle.ts';
import { ENTRIES, type EntryName } from '../lib/entries.ts';

// A function takes a second to bundle, and several times as long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/**
 * Kilobytes of the minified file. Every 100 KB add about 10 ms to each cold start on a whole processor. Each limit is a
 * twentieth above the present size: a change that exceeds it has added code that a handler hardly needs.
 */
const KILOBYTES_MAX: Readonly<Record<EntryName, number>> = {
  gateway: 760,
  disconnect: 672,
  fanOut: 700,
  timers: 676,
  sweep: 690,
  operator: 775,
  publish: 728,
  api: 820,
  usageExport: 460,
  kafka: 687,
  iotCore: 688,
  rules: 1_050,
  rulesKafka: 1_550,
  breaker: 400,
  rotation: 160,
};

/** Modules that each cold start would load without using them. */
const UNWANTED = [
  'readable-stream',
  '@aws-sdk/credential-provider-sso',
  '@aws-sdk/nested-clients',
  '@aws-sdk/client-apigatewaymanagementapi',
  'ws',
  'mqtt',
];

const GUIDE = readFileSync(new URL('../../loadtest/results/cold-starts.md', import.meta.url), 'utf8');
/** How far the sizes in the guide may differ from the deployed ones. */
const STALE_SHARE = 0.03;

/** Kilobytes of a function in the table of loadtest/results/cold-starts.md: minified, and compressed. */
function documentedKilobytes(name: EntryName): readonly [number, number] {
  const [, minified, compressed] =
    new RegExp(`^\\| ${name} \\| (\\d+) KB \\| (\\d+) KB `, 'm').exec(GUIDE) ?? [];
  return [Number(minified), Number(compressed)];
}

const names = Object.keys(ENTRIES) as EntryName[];

/** Each function is bundled once for all tests. */
const bundles = new Map<EntryName, Promise<Bundle>>();

function bundleOf(name: EntryName): Promise<Bundle> {
  const known = bundles.get(name) ?? bundle(name);
  bundles.set(name, known);
  return known;
}

describe.each(names)('the bundle of %s', (name) => {
  it('is no larger than a cold start allows, contains no unused modules, and has the size in loadtest/results/cold-starts.md', async () => {
    const { code, gzipBytes, packages } = await bundleOf(name);
    expect(code.length / 1_024).toBeLessThanOrEqual(KILOBYTES_MAX[name]);
    expect(packages.map(([packageName]) => packageName).filter((each) => UNWANTED.includes(each))).toEqual(
      [],
    );
    const [minified, compressed] = documentedKilobytes(name);
    expect(Math.abs(minified / (code.length / 1_024) - 1)).toBeLessThan(STALE_SHARE);
    expect(Math.abs(compressed / (gzipBytes / 1_024) - 1)).toBeLessThan(STALE_SHARE);
  });
});

it('only the function of handshakes contains the code that checks tokens', async () => {
  const namesOf = async (name: EntryName) => (await bundleOf(name)).packages.map(([each]) => each);
  const checkers = ['jose', '@aws-sdk/client-secrets-manager'];
  expect(await namesOf('gateway')).toEqual(expect.arrayContaining(checkers));
  // Its keys are a secret, and its callers send no tokens.
  expect(await namesOf('publish')).not.toContain('jose');
  for (const name of ['disconnect', 'fanOut', 'timers', 'sweep', 'operator'] as const) {
    expect((await namesOf(name)).filter((each) => checkers.includes(each))).toEqual([]);
  }
});
