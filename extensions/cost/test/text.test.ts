import { expect, it } from 'vitest';
import { unitPriceText } from '../src/text.ts';

it.each([
  [0.4, '$0.40'],
  [0.1 / 11, '$0.0091'],
  [0.001, '$0.0010'],
  [0.000001, '$1.00 / M'],
])('a unit price of %s dollars is written as %s', (usd, text) => {
  expect(unitPriceText(usd)).toBe(text);
});
