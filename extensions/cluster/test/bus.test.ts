import { describe, expect, it, onTestFinished } from 'vitest';
import { Bus, type FrameHandler } from '../src/bus.ts';
import type { Frame, PublishFrame } from '../src/frames.ts';
import { ACKNOWLEDGE_MS, PENDING_BYTES_MAX, RESEND_MS, RESEND_MS_MAX, WINDOW_BYTES } from '../src/limits.ts';
import type { Transport } from '../src/transport.ts';
import { HandClock } from './support/hand-clock.ts';

/** The fate of each thing that the bus carries. */
type Fate = 'comes' | 'is lost' | 'comes twice';

/** Processes in one: carries in order, unless `fate` says otherwise. */
class Network {
  readonly #takers = new Map<string, (bytes: Buffer) => void>();
  fate: (to: string) => Fate = () => 'comes';
  carried = 0;

  transport(me: string): Transport {
    return {
      start: async (take) => void this.#takers.set(me, take),
      send: (to, bytes) => {
        this.carried += 1;
        const fate = this.fate(to);
        if (fate === 'is lost') return;
        const copies = fate === 'comes twice' ? 2 : 1;
        for (let copy = 0; copy < copies; copy += 1)
          queueMicrotask(() => this.#takers.get(to)?.(Buffer.from(bytes)));
      },
      isWaiting: false,
      together: (send) => send(),
      flushed: async () => {},
    };
  }
}

const SILENT = { info() {}, warn() {}, error() {}, debug() {}, writesDebug: false };

/** The event loop turns, so that all that was gathered leaves and arrives. */
async function turns(count = 6): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function twoProcesses(handle: FrameHandler = () => undefined) {
  const [clock, network] = [new HandClock(), new Network()];
  const got: Frame[] = [];
  const one = new Bus(network.transport('one'), 'one', clock, SILENT);
  const two = new Bus(network.transport('two'), 'two', clock, SILENT);
  await one.start(() => undefined);
  await two.start((from, frame) => {
    got.push(frame);
    return handle(from, frame);
  });
  onTestFinished(() => {
    one.stop();
    two.stop();
  });
  return { one, two, clock, network, got };
}

function message(text: string, qos: 0 | 1 | 2 = 1): PublishFrame {
  return {
    type: 'publish',
    tenant: 't',
    isPlain: true,
    groups: [],
    hops: 0,
    mayWait: false,
    isAgain: false,
    message: {
      id: text,
      topic: 'a',
      payload: Buffer.from(text),
      qos,
      retain: false,
      properties: {},
      expiresAtMs: undefined,
      publisherKey: undefined,
    },
  };
}

function textsOf(frames: readonly Frame[]): string[] {
  return frames.flatMap((frame) => (frame.type === 'publish' ? [String(frame.message.payload)] : []));
}

describe('the bus', () => {
  it('brings each frame once and in order, although entries are lost and doubled', async () => {
    const { one, clock, network, got } = await twoProcesses();
    // The same fates in each run.
    let seed = 7;
    network.fate = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return (['comes', 'is lost', 'comes twice'] as const)[seed % 3] ?? 'comes';
    };
    const texts = Array.from({ length: 200 }, (_, index) => String(index));
    let acknowledged = 0;
    for (const text of texts) {
      void one.request('two', message(text)).then(() => {
        acknowledged += 1;
      });
      await turns(1);
    }
    for (let look = 0; look < 400 && acknowledged < texts.length; look += 1) {
      clock.move(RESEND_MS_MAX);
      await turns();
    }
    expect(acknowledged).toBe(texts.length);
    expect(textsOf(got)).toEqual(texts);
  });

  it('has what was lost sent again as soon as it sees a gap', async () => {
    const { one, network, got } = await twoProcesses();
    network.fate = () => 'is lost';
    const lost = one.request('two', message('lost'));
    await turns();
    network.fate = () => 'comes';
    const next = one.request('two', message('next'));
    await Promise.all([lost, next]);
    expect(textsOf(got)).toEqual(['lost', 'next']);
  });

  it('sends the last ones again that nothing follows, all of them with the first answer', async () => {
    const { one, clock, network, got } = await twoProcesses();
    network.fate = () => 'is lost';
    const sent: Promise<void>[] = [];
    for (const text of ['1', '2', '3']) {
      sent.push(one.request('two', message(text)));
      await turns();
    }
    network.fate = () => 'comes';
    clock.move(RESEND_MS);
    await Promise.all(sent);
    expect(textsOf(got)).toEqual(['1', '2', '3']);
  });

  it('sends nothing again that has arrived, however long it takes to be stored', async () => {
    let store = () => {};
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    const { one, clock, network, got } = await twoProcesses(() => stored);
    let isAcknowledged = false;
    const sent = one.request('two', message('slow')).then(() => {
      isAcknowledged = true;
    });
    await turns();
    // The other process says that it has it, with an acknowledgement for another one.
    clock.move(RESEND_MS);
    await turns();
    clock.move(RESEND_MS);
    await turns();
    const before = network.carried;
    for (let look = 0; look < 10; look += 1) {
      clock.move(RESEND_MS);
      await turns();
    }
    expect(network.carried).toBe(before);
    expect(isAcknowledged).toBe(false);
    store();
    await sent;
    expect(textsOf(got)).toEqual(['slow']);
  });

  it('acknowledges what is stored before an earlier one is', async () => {
    let store = () => {};
    const first = new Promise<void>((resolve) => {
      store = resolve;
    });
    const { one } = await twoProcesses((_, frame) => (textsOf([frame])[0] === 'first' ? first : undefined));
    let isFirstAcknowledged = false;
    const waiting = one.request('two', message('first')).then(() => {
      isFirstAcknowledged = true;
    });
    await turns();
    await one.request('two', message('second'));
    expect(isFirstAcknowledged).toBe(false);
    store();
    await waiting;
  });

  it('acknowledges messages at QoS 0 together, some time later', async () => {
    const { one, clock, network } = await twoProcesses();
    const sent: Promise<void>[] = [];
    for (let count = 0; count < 10; count += 1) {
      sent.push(one.request('two', message(String(count), 0)));
      await turns(2);
    }
    expect(network.carried).toBe(10);
    clock.move(ACKNOWLEDGE_MS);
    await Promise.all(sent);
    expect(network.carried).toBe(11);
  });

  it.each(['at once', 'later'])(
    'confirms nothing of an entry whose frame fails %s, and goes on',
    async (when) => {
      const failure = new Error('the store has been closed');
      const { one } = await twoProcesses((_, frame) => {
        if (textsOf([frame])[0] !== 'fails') return undefined;
        if (when === 'at once') throw failure;
        return Promise.reject(failure);
      });
      let isConfirmed = false;
      void one.request('two', message('fails')).then(() => {
        isConfirmed = true;
      });
      await turns();
      void one.request('two', message('2'));
      await turns();
      expect(isConfirmed).toBe(false);
      expect(textsOf(one.forget('two').map(({ frame }) => frame))).toEqual(['fails']);
    },
  );

  it('hands what was not acknowledged back when the process is given up', async () => {
    const { one, network } = await twoProcesses();
    network.fate = () => 'is lost';
    void one.request('two', message('1'));
    await turns();
    void one.request('two', message('2'));
    expect(textsOf(one.forget('two').map(({ frame }) => frame))).toEqual(['1', '2']);
  });

  it('keeps no more than a window on its way to a process that does not answer, and says when too much waits', async () => {
    const { one, clock, network } = await twoProcesses();
    let bytes = 0;
    network.fate = () => 'is lost';
    const large = 'x'.repeat(512 * 1024);
    while (!one.isFull('two') && bytes < 2 * PENDING_BYTES_MAX) {
      bytes += large.length;
      void one.request('two', message(large));
      await turns(1);
    }
    expect(one.isFull('two')).toBe(true);
    const before = network.carried;
    expect(before * large.length).toBeLessThan(WINDOW_BYTES + 4 * large.length);
    // A process that is only slow gets a question again and again, and not all of it.
    for (let look = 0; look < 20; look += 1) {
      clock.move(RESEND_MS);
      await turns();
    }
    expect(network.carried - before).toBeLessThan(8);
  });
});
