import { expect, it } from 'vitest';
import { Ledger } from './ledger.ts';

function ledgerOf(qos: 1 | 2, received: readonly number[]): Ledger {
  const ledger = new Ledger(['s']);
  for (const number of [0, 1, 2]) {
    ledger.published({ topic: 't', qos, number });
    ledger.acknowledged('t', number);
  }
  for (const number of received) ledger.received('s', 't', number);
  return ledger;
}

it('finds nothing where every promise was kept, repetitions at QoS 1 included', () => {
  expect(ledgerOf(1, [0, 1, 0, 1, 2]).problems).toEqual([]);
  expect(ledgerOf(2, [0, 1, 2]).problems).toEqual([]);
});

it('finds what was lost, doubled, and out of order', () => {
  expect(ledgerOf(1, [0, 2]).problems).toEqual(['lost: t 1 never came to s']);
  expect(ledgerOf(2, [0, 1, 1, 2]).problems).toEqual(['doubled: t 1 came twice to s']);
  expect(ledgerOf(1, [0, 2, 1]).problems).toEqual(['order: t at s: 1 came first after 2']);
});

it('does not ask for what was never acknowledged', () => {
  const ledger = ledgerOf(1, [0, 1, 2]);
  ledger.published({ topic: 't', qos: 1, number: 3 });
  expect(ledger.problems).toEqual([]);
});
