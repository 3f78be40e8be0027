import { describe, expect, it } from 'vitest';
import { ALIASED_CHARACTERS_MAX, ClientTopicAliases, TopicAliases } from '../src/packets/topic-aliases.ts';

/** The memory of a node with room for so many bytes. */
class Memory {
  bytes = 0;
  readonly #bytesMax: number;

  constructor(bytesMax = Number.POSITIVE_INFINITY) {
    this.#bytesMax = bytesMax;
  }

  get isFull(): boolean {
    return this.bytes >= this.#bytesMax;
  }

  change(bytes: number): void {
    this.bytes += bytes;
  }
}

const long = (characters: number) => 'x'.repeat(characters);

describe('the topics behind aliases that a client sets', () => {
  it('have a limit of characters, and a shorter topic gives some back [SEC-MEMORY-7]', () => {
    const memory = new Memory();
    const aliases = new ClientTopicAliases(memory);
    expect(aliases.set(1, long(ALIASED_CHARACTERS_MAX))).toBe(true);
    expect(aliases.set(2, 'a')).toBe(false);
    expect(aliases.get(2)).toBeUndefined();
    expect(aliases.set(1, 'a')).toBe(true);
    expect(aliases.set(2, long(ALIASED_CHARACTERS_MAX - 1))).toBe(true);
  });

  it('count with the memory of the node until the connection ends [SEC-MEMORY-7]', () => {
    const memory = new Memory();
    const aliases = new ClientTopicAliases(memory);
    aliases.set(1, long(1_000));
    expect(memory.bytes).toBeGreaterThanOrEqual(2_000);
    const { bytes } = memory;
    aliases.set(1, long(10));
    expect(memory.bytes).toBe(bytes - 1_980);
    aliases.release();
    expect(memory.bytes).toBe(0);
  });

  it('find no room in a full memory; a topic that is not longer does', () => {
    const aliases = new ClientTopicAliases(new Memory(1_000));
    expect(aliases.set(1, long(500))).toBe(true);
    expect(aliases.set(2, 'a')).toBe(false);
    expect(aliases.set(1, long(400))).toBe(true);
  });
});

describe('the topics behind aliases that the broker sets', () => {
  it('get no alias beyond the limit of characters, or in a full memory [SEC-MEMORY-7]', () => {
    const memory = new Memory();
    const aliases = new TopicAliases(65_535, memory);
    const [first, second] = [long(ALIASED_CHARACTERS_MAX - 1), 'ab'];
    const form = aliases.formOf(first);
    expect(form).toEqual({ alias: 1, known: false });
    expect(memory.bytes).toBe(0);
    if (form !== undefined) aliases.sent(first, form);
    expect(aliases.formOf(first)).toEqual({ alias: 1, known: true });
    expect(aliases.formOf(second)).toBeUndefined();
    aliases.release();
    expect(memory.bytes).toBe(0);
    expect(new TopicAliases(1, new Memory(0)).formOf('a')).toBeUndefined();
  });
});
