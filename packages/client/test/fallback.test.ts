import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFallback } from '../src/fallback.ts';
import { ControlledClock } from './support/controlled-clock.ts';

describe('opening', () => {
  const sockets: SlowSocket[] = [];
  const posts: string[] = [];
  let clock: ControlledClock;
  let answer: () => Promise<Response>;

  class SlowSocket extends EventTarget {
    readonly protocol = 'mqtt';
    readonly bufferedAmount = 0;
    isClosed = false;

    constructor() {
      super();
      sockets.push(this);
    }

    send(): void {}

    close(): void {
      this.isClosed = true;
    }

    fail(): void {
      this.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' }));
    }
  }

  beforeEach(() => {
    sockets.length = 0;
    posts.length = 0;
    clock = new ControlledClock();
    answer = () => new Promise(() => {});
    vi.stubGlobal('fetch', (_url: string, { body }: { body: Uint8Array }) => {
      const line = new TextDecoder().decode(body).trim().split(' ', 1)[0] ?? '';
      posts.push(line);
      return line === 'open' ? answer() : new Promise(() => {});
    });
  });

  afterEach(() => vi.unstubAllGlobals());

  function opening() {
    const fallback = createFallback({ WebSocket: SlowSocket, timers: clock });
    const events: string[] = [];
    const connect = async () => {
      const socket = fallback.createWebsocket('ws://broker/mqtt?token=1', ['mqtt'], {});
      for (const type of ['open', 'error', 'close']) socket.on(type, () => events.push(type));
      await clock.runDue();
      return socket;
    };
    return { fallback, connect, events };
  }

  const link = () => Promise.resolve(new Response(`${'k'.repeat(22)}\n`));

  test('has two WebSockets and then HTTP where none is answered, within two seconds', async () => {
    answer = link;
    const { fallback, connect, events } = opening();
    await connect();
    await clock.advance(999);
    expect([sockets.length, posts.length]).toEqual([1, 0]);
    await clock.advance(1_000);
    expect([sockets.length, posts.length]).toEqual([2, 0]);
    await clock.advance(1);
    expect(posts).toEqual(['open', 'poll']);
    expect(events).toEqual(['open']);
    expect(fallback.statistics.wire).toBe('http');
    expect(sockets.every(({ isClosed }) => isClosed)).toBe(true);
  });

  test('leaves a slow network its WebSocket: the first that opens is used', async () => {
    const { fallback, connect, events } = opening();
    await connect();
    await clock.advance(2_500);
    expect(posts).toEqual(['open']);
    sockets[0]?.dispatchEvent(new Event('open'));
    expect(events).toEqual(['open']);
    expect(fallback.statistics.wire).toBe('websocket');
    expect(sockets[1]?.isClosed).toBe(true);
  });

  test('tries one WebSocket for ten minutes after it found them blocked', async () => {
    answer = link;
    const { connect } = opening();
    const fails = async () => {
      sockets.at(-1)?.fail();
      await clock.runDue();
    };
    const first = await connect();
    await fails();
    await fails();
    expect(posts).toEqual(['open', 'poll']);
    first.terminate();
    const second = await connect();
    await clock.advance(499);
    expect(sockets).toHaveLength(3);
    expect(posts.filter((line) => line === 'open')).toHaveLength(1);
    await clock.advance(1);
    expect(sockets).toHaveLength(3);
    expect(posts.filter((line) => line === 'open')).toHaveLength(2);
    second.terminate();
    await clock.advance(600_000);
    await connect();
    await fails();
    expect(sockets).toHaveLength(5);
  });

  test('fails where something else answers, with what it said', async () => {
    answer = () => Promise.resolve(new Response('<h1>Please log in</h1>'));
    const { connect } = opening();
    const socket = await connect();
    const errors: string[] = [];
    socket.on('error', (error: Error) => errors.push(error.message));
    for (const _ of [1, 2]) {
      sockets.at(-1)?.fail();
      await clock.runDue();
    }
    await clock.runDue();
    expect(errors.join()).toMatch('HTTP 200: <h1>Please log in');
    expect(socket.readyState).toBe(3);
  });
});

describe('HTTP requests', () => {
  const KEY = 'k'.repeat(22);
  let clock: ControlledClock;
  /** The requests of a kind, with their lines. */
  let asked: { line: string; bytes: number; signal: AbortSignal | undefined }[];
  let answer: (line: string) => Promise<Response>;

  class BlockedSocket extends EventTarget {
    readonly protocol = '';
    readonly bufferedAmount = 0;

    constructor() {
      super();
      clock.defer(() => this.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' })));
    }

    send(): void {}

    close(): void {}
  }

  const never = () => new Promise<Response>(() => {});
  const said = (text: string, status = 200) => Promise.resolve(new Response(text, { status }));
  const lines = (kind: string) => asked.filter(({ line }) => line.startsWith(kind)).map(({ line }) => line);

  beforeEach(() => {
    clock = new ControlledClock();
    asked = [];
    answer = never;
    vi.stubGlobal('fetch', (_url: string, { body, signal }: { body: Uint8Array; signal?: AbortSignal }) => {
      const end = body.indexOf(10);
      const line = new TextDecoder().decode(body.subarray(0, end)).replace(` ${KEY}`, '');
      asked.push({ line, bytes: body.length - end - 1, signal });
      const aborted = new Promise<Response>((_, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('aborted'))),
      );
      return Promise.race([line === 'open' ? said(`${KEY}\n`) : answer(line), aborted]);
    });
  });

  afterEach(() => vi.unstubAllGlobals());

  async function after<T>(milliseconds: number, look: () => T): Promise<T> {
    await clock.advance(milliseconds);
    return look();
  }

  async function opened() {
    const { createWebsocket } = createFallback({ WebSocket: BlockedSocket, timers: clock });
    const socket = createWebsocket('ws://broker/mqtt', ['mqtt'], {});
    const received: number[] = [];
    let closes = 0;
    socket.on('message', (bytes: Uint8Array) => received.push(...bytes));
    socket.on('close', () => {
      closes += 1;
    });
    await expect.poll(() => after(0, () => socket.readyState)).toBe(1);
    return { socket, received, closes: () => closes };
  }

  test('a page that a proxy shows in the place of a response is no bytes of the server', async () => {
    const pages = ['<h1>Please log in</h1>', '.\u0020\u0001'];
    answer = () => {
      const page = pages.shift();
      return page === undefined ? never() : said(page);
    };
    const { received } = await opened();
    await expect.poll(() => after(10, () => received)).toEqual([0x20, 1]);
  });

  test('a response that never ends is asked for again', async () => {
    answer = (line) => {
      if (line.startsWith('poll')) return said('.ab');
      const { signal } = asked.at(-1) ?? {};
      const endless = new ReadableStream({
        start(controller) {
          controller.enqueue(Uint8Array.of(0x2e));
          signal?.addEventListener('abort', () => controller.error(new Error('aborted')));
        },
      });
      return Promise.resolve(new Response(endless));
    };
    await opened();
    await expect.poll(() => after(0, () => lines('down'))).toEqual(['down 2']);
    await clock.advance(30_000);
    expect(lines('down')).toEqual(['down 2']);
    await expect.poll(() => after(1_000, () => lines('down'))).toEqual(['down 2', 'down 2']);
  });

  test('a confirmation that was lost is repeated', async () => {
    const text = `.${'x'.repeat(40_000)}`;
    answer = (line) => {
      if (line.startsWith('poll')) return said(text);
      return line.startsWith('up') ? said('busy', 503) : never();
    };
    await opened();
    await expect.poll(() => after(0, () => lines('up'))).toHaveLength(1);
    answer = (line) => (line.startsWith('up') ? said('0 40000\n') : never());
    await expect.poll(() => after(10, () => lines('up'))).toEqual(['up 40000 0 0', 'up 40000 0 0']);
  });

  test('bytes that do not arrive in the time of a POST come in smaller ones', async () => {
    const { socket } = await opened();
    socket.send(new Uint8Array(50_000));
    const sizes = () => asked.filter(({ line }) => line.startsWith('up')).map(({ bytes }) => bytes);
    await expect.poll(() => after(1_000, () => sizes().slice(0, 3))).toEqual([50_000, 30_720, 15_360]);
  });

  test('the close waits for the bytes that were sent, and is told once', async () => {
    let take = (_: Response) => {};
    answer = (line) =>
      line.startsWith('up')
        ? new Promise((resolve) => {
            take = resolve;
          })
        : never();
    const { socket, closes } = await opened();
    for (const bytes of [[], [1, 2], [], [3]]) socket.send(Uint8Array.from(bytes));
    socket.close();
    await expect.poll(() => after(0, () => lines('up'))).toEqual(['up 0 0 3']);
    expect(closes()).toBe(0);
    take(new Response('3 0\n'));
    await expect.poll(() => after(0, closes)).toBe(1);
    expect(lines('end')).toEqual(['end']);
    socket.terminate();
    expect(lines('end')).toHaveLength(1);
  });
});
