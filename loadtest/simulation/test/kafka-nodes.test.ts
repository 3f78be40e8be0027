import { describe, expect, it } from 'vitest';
import { kafkaNodes, simulateNode } from '../src/kafka-nodes.ts';
import { Random } from '../src/random.ts';

describe('the simulation of a node that reads Kafka', () => {
  it('costs what was measured: 80 µs for a record alone, 20 in a backlog', () => {
    const alone = simulateNode(1_000, new Random(1));
    expect(alone.busy).toBeGreaterThan(0.07);
    expect(alone.busy).toBeLessThan(0.09);
    expect(simulateNode(49_000, new Random(1)).busy).toBeGreaterThan(0.98);
  });

  it('is later the more it has to do, and says when it does not keep up', () => {
    const [few, many, tooMany] = [1_000, 30_000, 60_000].map((users) => simulateNode(users, new Random(1)));
    expect(few?.mean).toBeGreaterThan(3);
    expect(many?.p99).toBeGreaterThan(few?.p99 ?? 0);
    expect([few?.keepsUp, many?.keepsUp, tooMany?.keepsUp]).toEqual([true, true, false]);
  });

  it('says how many nodes a million users need', () => {
    expect(kafkaNodes(1_000_000, 1)).toContain('| 20,000 | 50 |');
  });
});
