import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readBridges } from '../src/index.ts';

const FILE = new URL('../../../examples/bridges/bridges.json', import.meta.url);

test('the example is a file of bridges, and its secrets are in the environment', () => {
  const value: unknown = JSON.parse(readFileSync(FILE, 'utf8'));
  const place = { where: 'bridges.json', directory: '.', nowMs: Date.now() };
  const environment = { PLANT_PASSWORD: 'p', KAFKA_PASSWORD: 'k' };
  expect(readBridges(value, { ...place, environment })).toMatchObject([
    { name: 'plant', kind: 'mqtt', password: 'p' },
    { name: 'market', kind: 'kafka', sasl: { password: 'k' } },
  ]);
  expect(() => readBridges(value, { ...place, environment: {} })).toThrow('PLANT_PASSWORD is not set');
});
