import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readBridges, readRules } from '../src/index.ts';

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

test('the example of rules is a file of rules', () => {
  const file = new URL('../../../examples/bridges/rules.json', import.meta.url);
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const place = { where: 'rules.json', directory: '.', nowMs: Date.now() };
  expect(readRules(value, { ...place, environment: { ALARMS_SECRET: 's' } })).toMatchObject([
    { name: 'overheated', to: { kind: 'webhook', secret: 's' } },
    { name: 'archive', to: { kind: 'kafka' } },
    { name: 'reminder', to: { kind: 'publish', topic: { text: '$delayed/3600/meetings/{2}/reminder' } } },
    { name: 'orders', to: { kind: 'sqs' } },
  ]);
});
