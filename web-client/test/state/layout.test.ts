import { expect, test } from 'vitest';
import { readLayout } from '../../src/state/layout.ts';

const AT_START = {
  isPublishFolded: true,
  subscriptionsPx: undefined,
  publishPx: undefined,
  areSectionsOpen: false,
  hidesDelivery: false,
  hidesPings: false,
  hidesEmptyFrames: false,
};

test('without anything stored the page is as at the start', () => {
  expect(readLayout(null)).toEqual(AT_START);
});

test('of the stored values only valid ones are taken', () => {
  const stored = { isPublishFolded: 'yes', publishPx: '9px' };
  expect(readLayout({ ...stored, subscriptionsPx: 250, hidesPings: true })).toEqual({
    ...AT_START,
    subscriptionsPx: 250,
    hidesPings: true,
  });
});
