import type { Handlers, Poster, ProxyResult } from '@apus/aws';
import { describe, expect, test } from 'vitest';
import { HandlersPoster, OrderedPoster, PageOrder } from '../src/gateway/page-order.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

function createOrder() {
  const nudged: string[] = [];
  return { order: new PageOrder((connectionId) => nudged.push(connectionId)), nudged };
}

describe('a message for a client', () => {
  test('waits in the queue while a page of it is under way, and the client is told [MQTT-4.6.0-6]', async () => {
    const { order, nudged } = createOrder();
    order.begin('r');
    expect(order.isUnderWay('c')).toBe(false);
    await order.hold('c', 'r');
    expect(order.isUnderWay('c')).toBe(true);
    expect(order.isUnderWay('another')).toBe(false);
    expect(nudged).toEqual([]);
    order.answered('r');
    expect(nudged).toEqual(['c']);
    expect(order.isUnderWay('c')).toBe(false);
  });

  test('is not announced if none came while the page was under way', async () => {
    const { order, nudged } = createOrder();
    order.begin('r');
    await order.hold('c', 'r');
    order.answered('r');
    expect(nudged).toEqual([]);
  });

  test('does not wait for an empty page; one that waits already is announced', async () => {
    const { order, nudged } = createOrder();
    order.begin('r');
    await order.hold('c', 'r');
    order.isUnderWay('c');
    order.cancel('r');
    expect(order.isUnderWay('c')).toBe(false);
    expect(nudged).toEqual(['c']);
    order.answered('r');
    expect(nudged).toEqual(['c']);
  });

  test('does not wait for a handler that has timed out and still takes its page', async () => {
    const { order } = createOrder();
    order.begin('r');
    order.answered('r');
    await order.hold('c', 'r');
    expect(order.isUnderWay('c')).toBe(false);
  });
});

describe('the next page of a client', () => {
  test('waits for the one before it, which another frame has taken [MQTT-4.6.0-6]', async () => {
    const { order } = createOrder();
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

describe('a reply with a page', () => {
  const REPLY: ProxyResult = { statusCode: 200, body: 'page' };

  /** An execution environment whose frame handler takes the given steps. */
  function environment(order: PageOrder, does: (poster: HandlersPoster) => Promise<void>) {
    const posted: string[] = [];
    const finish: (() => void)[] = [];
    const inner: Poster = {
      post: (connectionId, frame) =>
        new Promise((resolve) =>
          finish.push(() => {
            posted.push(`${connectionId}: ${String(frame)}`);
            resolve('sent');
          }),
        ),
      delete: async () => true,
      get: async () => 'gone' as never,
    };
    const poster = new HandlersPoster(inner, order);
    const refuse = async () => ({ statusCode: 400 });
    const handlers: Handlers = poster.over({
      connect: refuse,
      disconnect: refuse,
      default: async () => {
        await does(poster);
        return REPLY;
      },
    });
    const state = { replied: false };
    const handle = async (requestId: string) => {
      await handlers.default({ requestContext: { requestId } } as never, {} as never);
      state.replied = true;
    };
    return { handle, posted, finish, state, inner };
  }

  test('waits for packets that another event has gathered for the client and not yet posted [MQTT-4.6.0-6]', async () => {
    const { order } = createOrder();
    let commit = () => {};
    const publisher = environment(order, async (poster) => {
      poster.willPost('c');
      await new Promise<void>((resolve) => {
        commit = resolve;
      });
      await poster.post('c', 'older', true);
    });
    const client = environment(order, async (poster) => {
      await poster.beforePage('c', async () => {});
    });
    const published = publisher.handle('p');
    const fetched = client.handle('r');
    await turn();
    expect(client.state.replied).toBe(false);
    commit();
    await turn();
    expect(client.state.replied).toBe(false);
    publisher.finish[0]?.();
    await Promise.all([published, fetched]);
    expect(publisher.posted).toEqual(['c: older']);
  });

  test('waits for a post of the other door', async () => {
    const { order } = createOrder();
    const client = environment(order, async (poster) => {
      await poster.beforePage('c', async () => {});
    });
    const outside = new OrderedPoster(client.inner, order);
    const post = outside.post('c', 'older', true);
    const fetched = client.handle('r');
    await turn();
    expect(client.state.replied).toBe(false);
    client.finish[0]?.();
    await Promise.all([post, fetched]);
    expect(client.state.replied).toBe(true);
  });

  test('posts no part of a page before that', async () => {
    const { order } = createOrder();
    const client = environment(order, async (poster) => {
      await poster.beforePage('c', async () => {});
      await poster.post('c', 'a part', true);
    });
    const outside = new OrderedPoster(client.inner, order);
    const post = outside.post('c', 'older', true);
    const fetched = client.handle('r');
    await turn();
    expect(client.finish).toHaveLength(1);
    client.finish[0]?.();
    await turn();
    client.finish[1]?.();
    await Promise.all([post, fetched]);
    expect(client.posted).toEqual(['c: older', 'c: a part']);
  });

  test('does not wait for that of another client if both publish to each other', async () => {
    const { order } = createOrder();
    const [one, other] = [
      ['a', 'b'],
      ['b', 'a'],
    ].map(([own = '', recipient = '']) =>
      environment(order, async (poster) => {
        poster.willPost(recipient);
        await turn();
        await poster.beforePage(own, async () => void (await poster.post(recipient, `from ${own}`, true)));
        expect(poster.isPageUnderWay(own)).toBe(false);
      }),
    ) as [ReturnType<typeof environment>, ReturnType<typeof environment>];
    const handled = [one.handle('r'), other.handle('s')];
    await turn();
    await turn();
    for (const { finish } of [one, other]) finish[0]?.();
    await Promise.all(handled);
    expect([one.posted, other.posted]).toEqual([['b: from a'], ['a: from b']]);
  });

  test('goes on if another event has failed before it posted', async () => {
    const { order } = createOrder();
    let fail = (_: Error) => {};
    const publisher = environment(order, async (poster) => {
      poster.willPost('c');
      await new Promise((_, reject) => {
        fail = reject;
      });
    });
    const client = environment(order, async (poster) => {
      await poster.beforePage('c', async () => {});
    });
    const published = publisher.handle('p');
    const fetched = client.handle('r');
    await turn();
    fail(new Error('a defect'));
    await expect(published).rejects.toThrow('a defect');
    await fetched;
    expect(client.state.replied).toBe(true);
  });
});
