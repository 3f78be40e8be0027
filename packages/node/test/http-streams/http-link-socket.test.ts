import { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { BytesBudget, type BytesHolder } from '../../src/bytes-budget.ts';
import { POST_BYTES_MAX } from '../../src/http-streams/http-link-limits.ts';
import { HttpLinkSocket } from '../../src/http-streams/http-link-socket.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';

class SummedBudget extends BytesBudget {
  sum = 0;

  override change(bytes: number): void {
    this.sum += bytes;
    super.change(bytes);
  }
}

function linkWith(budget: BytesBudget): HttpLinkSocket {
  const link = new HttpLinkSocket({ scheduler: new FakeScheduler(), budget, host: undefined });
  link.on('error', () => {});
  return link;
}

/** A request whose body has been read, and what it is answered. */
function exchange(): Duplex & { readonly answer: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  stream.push(null);
  return Object.assign(stream, { answer: () => Buffer.concat(chunks).toString('latin1') });
}

describe('the bytes of a link', () => {
  test('come in no further POST while the node does not read them [SEC-LINK-1]', () => {
    const link = linkWith(new SummedBudget(1_000_000, () => [], new FakeScheduler()));
    link.pause();
    const posts = Array.from({ length: 20 }, (_, index) => {
      const post = exchange();
      const bytes = Buffer.alloc(60_000, index);
      link.up(post, 0, { at: index * bytes.length, length: bytes.length }, bytes);
      return post;
    });
    expect(link.readableLength).toBeLessThanOrEqual(2 * POST_BYTES_MAX);
    expect(posts.at(-1)?.answer()).not.toMatch(/^200/);
  });

  test('wait in a POST until the node reads on, and a confirmation does not wait [SEC-LINK-1]', async () => {
    const link = linkWith(new SummedBudget(1_000_000, () => [], new FakeScheduler()));
    link.pause();
    const bytes = Buffer.alloc(POST_BYTES_MAX, 'x');
    link.up(exchange(), 0, { at: 0, length: bytes.length }, bytes);
    const confirmation = exchange();
    link.up(confirmation, 0, { at: bytes.length, length: 0 }, Buffer.alloc(0));
    expect(confirmation.answer()).toBe(`200\n${bytes.length} 0\n`);
    const second = exchange();
    link.up(second, 0, { at: bytes.length, length: 3 }, Buffer.from('abc'));
    expect(second.answer()).toBe('');
    let read = 0;
    link.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    link.resume();
    await expect.poll(() => second.answer()).toBe(`200\n${bytes.length + 3} 0\n`);
    expect(read).toBe(bytes.length + 3);
  });

  test('leave nothing in the budget where a link is cut for it while it sends [SEC-LINK-1]', () => {
    const clock = new FakeScheduler();
    const links: BytesHolder[] = [];
    const budget = new SummedBudget(40_000, () => links, clock);
    const [one, other, last] = [linkWith(budget), linkWith(budget), linkWith(budget)];
    links.push(last, one, other);
    for (const link of [one, other, last]) link.write(Buffer.alloc(100_000));
    expect(last.destroyed).toBe(true);
    for (const link of [one, other]) link.destroy();
    expect(budget.sum).toBe(0);
  });
});

test('a share of a budget is a whole number of bytes', () => {
  const budget = new BytesBudget(1_000_001, () => [], new FakeScheduler());
  expect(budget.shareBytes).toBe(250_000);
});
