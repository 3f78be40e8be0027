import { describe, expect, it } from 'vitest';
import { LostConnections } from '../src/lost-connections.ts';
import { environmentWhere } from './support/doings.ts';

const gone = (connectionId: string) => ({ connectionId, outcome: 'gone', isLoss: true, packets: 1 }) as const;

describe('a lost connection of which slices are told', () => {
  it('is told to them when it could not be closed, or there was no time for that', async () => {
    const loses = (connectionId: string) => ({ ...gone(connectionId), outcome: 'throttled' }) as const;
    const { environment } = environmentWhere('sent', (connectionId) => {
      if (connectionId === 'fails') throw new Error('the store is not there');
    });
    let hasTime = true;
    const lost = new LostConnections(environment, () => hasTime);
    const told: string[] = [];
    for (const name of ['closed', 'fails']) lost.add(loses(name), [() => void told.push(name)]);
    await lost.allClosed();
    expect(told).toEqual(['fails']);
    hasTime = false;
    lost.add(loses('late'), [() => void told.push('late')]);
    await lost.allClosed();
    expect(told).toEqual(['fails', 'late']);
    await lost.done();
  });
});
