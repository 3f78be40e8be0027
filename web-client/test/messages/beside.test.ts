import { expect, test } from 'vitest';
import { shownIds } from '../../src/features/messages/beside.ts';

const all = (): boolean => true;

test('the active connection stands alone while no other was put beside it', () => {
  expect(shownIds([], 'a', all)).toEqual(['a']);
  expect(shownIds(['b'], 'a', all)).toEqual(['a']);
});

test('the places stay while another of them becomes the active one', () => {
  expect(shownIds(['a', 'b'], 'a', all)).toEqual(['a', 'b']);
  expect(shownIds(['a', 'b'], 'b', all)).toEqual(['a', 'b']);
});

test('an active connection that was not chosen takes the first place', () => {
  expect(shownIds(['a', 'b'], 'c', all)).toEqual(['c', 'b']);
});

test('connections that were deleted leave their places', () => {
  expect(shownIds(['a', 'b', 'c'], 'a', (id) => id !== 'b')).toEqual(['a', 'c']);
  expect(shownIds(['a', 'b'], 'a', (id) => id !== 'b')).toEqual(['a']);
});
