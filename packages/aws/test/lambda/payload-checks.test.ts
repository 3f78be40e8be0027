import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { payloadChecksOf } from '../../src/lambda/settings.ts';
import { VARIABLES } from '../../src/lambda/variables.ts';

it('loads the module that the variable names, and none without it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apus-layer-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const module = join(folder, 'index.cjs');
  writeFileSync(module, "module.exports = [{ topicFilter: 'a/+', isValid: () => true }];");
  expect(payloadChecksOf({ [VARIABLES.payloadChecks]: module })).toMatchObject([{ topicFilter: 'a/+' }]);
  expect(payloadChecksOf({})).toBeUndefined();
});

it('a function whose layer is missing does not start: it would take every payload', () => {
  expect(() => payloadChecksOf({ [VARIABLES.payloadChecks]: 'apus-no-such-module' })).toThrow(
    /Cannot find module/,
  );
});
