import { describe, expect, test } from 'vitest';
import { PageOrder } from '../src/gateway/page-order.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a post to a connection', () => {
  const posted = (order: PageOrder) => {
    const posts: string[] = [];
    void order.post('c', undefined, async () => posts.push('post'));
    return posts;
  };

  test('waits until the request whose page is under way has been answered [MQTT-4.6.0-6]', async () => {
    const order = new PageOrder();
    order.begin('r');
    await order.hold('c', 'r');
    const posts = posted(order);
    await turn();
    expect(posts).toEqual([]);
    order.answered('r');
    await turn();
    expect(posts).toEqual(['post']);
  });

  test('does not wait for a handler that has timed out and takes its page all the same', async () => {
    const order = new PageOrder();
    order.begin('r');
    order.answered('r');
    expect(await order.hold('c', 'r')).toBe(undefined);
    const posts = posted(order);
    await turn();
    expect(posts).toEqual(['post']);
  });

  test('waits, from a handler whose own page is under way, for a page that was begun before', async () => {
    const order = new PageOrder();
    order.begin('r');
    order.begin('s');
    await order.hold('c', 'r');
    const own = await order.hold('d', 's');
    const posts: string[] = [];
    void order.post('c', own, async () => posts.push('post'));
    await turn();
    expect(posts).toEqual([]);
    order.answered('r');
    await turn();
    expect(posts).toEqual(['post']);
  });

  test('does not wait for a page that was begun after its handler began its own: no two wait for each other', async () => {
    const order = new PageOrder();
    order.begin('r');
    order.begin('s');
    const own = await order.hold('c', 'r');
    await order.hold('d', 's');
    const posts: string[] = [];
    void order.post('d', own, async () => posts.push('to d'));
    void order.post('c', own, async () => posts.push('a part of the page'));
    await turn();
    expect(posts).toEqual(['to d', 'a part of the page']);
  });
});

describe('the next page of a client', () => {
  test('waits for the one before it, which another frame has taken [MQTT-4.6.0-6]', async () => {
    const order = new PageOrder();
    const taken: string[] = [];
    for (const request of ['r', 's', 't']) {
      order.begin(request);
      void order.hold('c', request).then(() => taken.push(request));
    }
    await turn();
    expect(taken).toEqual(['r']);
    order.answered('r');
    await turn();
    expect(taken).toEqual(['r', 's']);
    order.answered('s');
    await turn();
    expect(taken).toEqual(['r', 's', 't']);
  });
});
