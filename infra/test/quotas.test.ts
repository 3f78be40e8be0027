import { expect, it } from 'vitest';
import { quotasOf } from '../lib/quotas.ts';

it.each([
  ['the default breaker', {}, undefined],
  ['no breaker', { breaker: false }, { tenant: 0, broker: 0 }],
  [
    'one of twice as many',
    { breaker: { messagesPerMinuteMax: 200_000 } },
    { tenant: 120_000, broker: 140_000 },
  ],
] as const)('the messages of a tenant and of all stay below %s', (_what, props, expected) => {
  const quotas = quotasOf(props);
  expect(
    quotas && {
      tenant: quotas.tenant?.messagesPerMinuteMax,
      broker: quotas.broker?.messagesPerMinuteMax,
    },
  ).toEqual(expected);
});

it('given quotas stay as they are, beside those that follow from the breaker', () => {
  const quotas = { identity: { framesPerSecondMax: 5 }, broker: { messagesPerMinuteMax: 7 } };
  expect(quotasOf({ quotas })).toEqual(quotas);
  expect(quotasOf({ quotas, breaker: { messagesPerMinuteMax: 10_000 } })).toEqual({
    ...quotas,
    tenant: { messagesPerMinuteMax: 6_000 },
  });
});
