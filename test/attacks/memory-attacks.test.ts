import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildCommand } from '../support/build-command.ts';
import { measure } from './measure.ts';
import { DOORS, MEMORY_ATTACKS } from './memory-attacks.ts';

/** The limit of a test. An idle machine needs a few seconds, a busy one several times as many. */
const BUILD_MS_MAX = 180_000;

let directory = '';
beforeAll(async () => {
  directory = await buildCommand();
}, BUILD_MS_MAX);

describe.each(DOORS)('a broker that is attacked at its %s door', (door) => {
  it.each(MEMORY_ATTACKS)(
    'by $name stays small, and serves other clients [SEC-MEMORY-1] [SEC-MEMORY-2] [SEC-MEMORY-3] [SEC-MEMORY-4]',
    async (attack) => {
      const { growthBytes, isServing } = await measure(join(directory, 'apus.js'), attack, door);
      expect(growthBytes).toBeLessThan(attack.growthBytesMax);
      expect(isServing).toBe(true);
    },
  );
});
