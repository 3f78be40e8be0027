import { describe, expect, test } from 'vitest';
import { PageOrder } from '../src/gateway/page-order.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a post to a connection', () => {
  const posted = (order: PageOrder) => {
    const posts: string[] = [];
    void order.post('c', async () => posts.push('post'));
    return posts;
  };

  test('waits until the request whose page is under way has been answered [MQTT-4.6.0-6]', async () => {
    const order = new PageOrder();
    order.begin('r');
    order.hold('c', 'r');
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
    order.hold('c', 'r');
    const posts = posted(order);
    await turn();
    expect(posts).toEqual(['post']);
  });
});
