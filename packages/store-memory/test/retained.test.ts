import type { Message } from '@apus/broker';
import { messageOf, upTo } from '@apus/broker/samples';
import { MemoryRetained } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';

/** More than the tree is asked for. */
const MANY = 5000;
const LIMIT = 100;
const PAGE = { messages: LIMIT, bytes: Number.POSITIVE_INFINITY };

function messageTo(topic: string, expiresAtMs?: number): Message {
  return messageOf({ topic, qos: 0, retain: true, expiresAtMs });
}

function fill(retained: MemoryRetained): void {
  for (let index = 0; index < MANY; index += 1) {
    retained.put('t', messageTo(`${index % 2 === 0 ? 'even' : 'odd'}/${index}`), upTo(2 * MANY));
  }
}

function readAll(retained: MemoryRetained, filter: string, between = (_page: number) => {}): string[] {
  const topics: string[] = [];
  let from: string | undefined;
  let pages = 0;
  do {
    const page = retained.match('t', filter, 0, from, PAGE);
    expect(page.messages.length).toBeLessThanOrEqual(LIMIT);
    topics.push(...page.messages.map(({ topic }) => topic));
    from = page.next;
    pages += 1;
    between(pages);
  } while (from !== undefined && pages < MANY);
  return topics;
}

describe('MemoryRetained with more matches than it looks up anew for each page', () => {
  it('finds each of them once', () => {
    const retained = new MemoryRetained();
    fill(retained);
    expect(new Set(readAll(retained, '#')).size).toBe(MANY);
    expect(readAll(retained, '#')).toHaveLength(MANY);
    const even = readAll(retained, 'even/+');
    expect(even).toHaveLength(MANY / 2);
    expect(even.every((topic) => topic.startsWith('even/'))).toBe(true);
  });

  it('skips no message that stays while most of them go and others come', () => {
    const retained = new MemoryRetained();
    fill(retained);
    const staysAlways = (index: number) => index % 10 === 7;
    const topics = readAll(retained, '#', (page) => {
      // Enough to compact the log several times while it is read.
      for (let index = page * 200; index < page * 200 + 400; index += 1) {
        const topic = `${index % 2 === 0 ? 'even' : 'odd'}/${index}`;
        if (!staysAlways(index)) retained.delete('t', topic, '9');
      }
      if (page < 10) retained.put('t', messageTo(`new/${page}`), upTo(2 * MANY));
    });
    const counts = new Map<string, number>();
    for (const topic of topics) counts.set(topic, (counts.get(topic) ?? 0) + 1);
    for (let index = 7; index < MANY; index += 10) expect(counts.get(`odd/${index}`), `odd/${index}`).toBe(1);
    expect(Math.max(...counts.values())).toBe(1);
  });

  it('reads on from a page of the tree although the matches have become many', () => {
    const retained = new MemoryRetained();
    for (let index = 0; index < LIMIT * 2; index += 1)
      retained.put('t', messageTo(`early/${index}`), upTo(2 * MANY));
    const topics = readAll(retained, '#', (page) => {
      if (page === 1) fill(retained);
    });
    expect(new Set(topics).size).toBe(MANY + LIMIT * 2);
    expect(topics).toHaveLength(MANY + LIMIT * 2);
  });

  it('looks at so many entries for a page as it may, and finds each message once [SEC-WORK-2]', () => {
    const retained = new MemoryRetained();
    // So many nodes lead to the few matches that the log is asked.
    for (let index = 0; index < 20_000; index += 1)
      retained.put('t', messageTo(`a/${index}/${index % 10_000 === 0 ? 'x' : 'y'}`), upTo(30_000));
    const found: string[] = [];
    let from: string | undefined;
    let pages = 0;
    do {
      const page = retained.match('t', '+/+/x', 0, from, { ...PAGE, lookedAt: 5_000 });
      if (from !== undefined) expect(page.lookedAt).toBeLessThanOrEqual(5_000);
      expect(page.lookedAt).toBeGreaterThan(0);
      found.push(...page.messages.map(({ topic }) => topic));
      from = page.next;
      pages += 1;
    } while (from !== undefined);
    expect(found).toEqual(['a/0/x', 'a/10000/x']);
    expect(pages).toBeGreaterThanOrEqual(4);
  });

  it('forgets expired messages when it meets them, and counts them no longer', () => {
    const retained = new MemoryRetained();
    for (let index = 0; index < MANY; index += 1) retained.put('t', messageTo(`${index}`, 1000), upTo(MANY));
    expect(retained.put('t', messageTo('one more'), upTo(MANY))).toBe(false);
    expect(retained.match('t', '#', 1000, undefined, PAGE)).toMatchObject({ messages: [], next: undefined });
    expect(retained.put('t', messageTo('one more'), upTo(MANY))).toBe(true);
    expect(readAll(retained, '#')).toEqual(['one more']);
  });
});
