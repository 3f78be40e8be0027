import { expect, test } from 'vitest';
import { readLayout } from '../../src/state/layout.ts';

test('without anything stored the page is as at the start', () => {
  expect(readLayout(null)).toEqual({ isPublishFolded: false, messageColumns: undefined, besideIds: [] });
});

test('of what was stored only what is of its kind is taken', () => {
  expect(readLayout({ isPublishFolded: 'yes', messageColumns: ['time', 7], besideIds: 'all' })).toEqual({
    isPublishFolded: false,
    messageColumns: ['time'],
    besideIds: [],
  });
});
