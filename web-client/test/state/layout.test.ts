import { expect, test } from 'vitest';
import { readLayout } from '../../src/state/layout.ts';

const AT_START = {
  isPublishFolded: true,
  messageColumns: undefined,
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
  const stored = { isPublishFolded: 'yes', messageColumns: ['time', 7], publishPx: '9px' };
  expect(readLayout({ ...stored, subscriptionsPx: 250, hidesPings: true })).toEqual({
    ...AT_START,
    messageColumns: ['time'],
    subscriptionsPx: 250,
    hidesPings: true,
  });
});
