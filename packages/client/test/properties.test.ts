import { expect, test } from 'vitest';
import { propertiesAt } from '../src/properties.ts';
import * as PropertyId from '../src/property-id.ts';

const string = (text: string): number[] => [0, text.length, ...Buffer.from(text)];

test('properties are found behind those of every other kind', () => {
  const properties = [
    ...[0x26, ...string('key'), ...string('value')],
    ...[0x15, ...string('method')],
    ...[0x16, 0, 2, 1, 2],
    ...[0x17, 1],
    ...[0x27, 0, 1, 0, 0],
    ...[0x22, 0, 9],
    ...[PropertyId.RECEIVE_MAXIMUM, 1, 2],
    ...[PropertyId.SESSION_EXPIRY_INTERVAL, 0xff, 0xff, 0xff, 0xff],
    ...[PropertyId.SERVER_KEEP_ALIVE, 0, 60],
  ];
  const { values, end } = propertiesAt(Uint8Array.of(7, properties.length, ...properties, 8), 1);
  expect(end).toBe(2 + properties.length);
  expect(values.get(PropertyId.RECEIVE_MAXIMUM)).toBe(258);
  expect(values.get(PropertyId.SESSION_EXPIRY_INTERVAL)).toBe(0xffff_ffff);
  expect(values.get(PropertyId.SERVER_KEEP_ALIVE)).toBe(60);
});

test('properties that are cut short end with the bytes', () => {
  expect(propertiesAt(Uint8Array.of(0x80), 0)).toEqual({ values: new Map(), fields: [], end: 1 });
});
