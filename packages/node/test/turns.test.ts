import { type Awaitable, TURN_MS_MAX } from '@apus/broker';
import { Inbound, Turns } from '@apus/door';
import type { Packet, Violation } from '@apus/mqtt';
import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';

const PATIENT = { timeout: PATIENCE_MS };
const CONNECT = Buffer.from('100d00044d5154540502000000000 0'.replaceAll(' ', ''), 'hex');
const PINGREQ = Buffer.from('c000', 'hex');

/** A broker whose answers the test gives when it likes. */
function turnsWith(answer: () => Awaitable<void>) {
  const calls: string[] = [];
  const nameOf = (packet: Packet | Violation): string => ('type' in packet ? packet.type : packet.reason);
  const gate = { isStalled: false };
  const clock = new FakeScheduler();
  const turns = new Turns(
    new Inbound(1000),
    {
      handle: (packet) => {
        calls.push(nameOf(packet));
        return answer();
      },
      lost: (why) => {
        calls.push(`lost: ${why}`);
      },
      failed: (error) => {
        calls.push(String(error));
        turns.close();
      },
      isStalled: () => gate.isStalled,
      waiting: () => {},
    },
    clock,
  );
  return { calls, turns, gate, clock };
}

test('packets are handed over at once while the broker answers at once', () => {
  const { calls, turns } = turnsWith(() => {});
  turns.push(Buffer.concat([CONNECT, PINGREQ, PINGREQ]));
  expect(calls).toEqual(['connect', 'pingreq', 'pingreq']);
});

test('a packet waits until the answer to the one before is there, and the end of the connection behind them', async () => {
  const answers: (() => void)[] = [];
  const { calls, turns } = turnsWith(() => new Promise((resolve) => answers.push(resolve)));
  turns.push(Buffer.concat([CONNECT, PINGREQ]));
  turns.end('cut');
  expect(calls).toEqual(['connect']);
  answers.shift()?.();
  await expect.poll(() => calls, PATIENT).toEqual(['connect', 'pingreq']);
  answers.shift()?.();
  await expect.poll(() => calls, PATIENT).toEqual(['connect', 'pingreq', 'lost: cut']);
});

test('a call goes before the packets that wait', async () => {
  let answer = (): void => {};
  const { calls, turns } = turnsWith(() =>
    calls.length === 1 ? new Promise<void>((resolve) => (answer = resolve)) : undefined,
  );
  turns.push(Buffer.concat([CONNECT, PINGREQ]));
  turns.call(() => {
    calls.push('drain');
  });
  answer();
  await expect.poll(() => calls, PATIENT).toEqual(['connect', 'drain', 'pingreq']);
});

test('a failed call is reported once, and so is the end of the connection', async () => {
  const { calls, turns } = turnsWith(() => Promise.reject(new Error('no database')));
  turns.push(Buffer.concat([CONNECT, PINGREQ]));
  turns.end('closed');
  await expect.poll(() => calls, PATIENT).toEqual(['connect', 'Error: no database', 'lost: closed']);
});

test('no packet is handed over while the link is stalled, until it is lost', () => {
  const { calls, turns, gate } = turnsWith(() => {});
  gate.isStalled = true;
  turns.push(CONNECT);
  expect(calls).toEqual([]);
  turns.end('cut');
  expect(calls).toEqual(['connect', 'lost: cut']);
});

test('a defect beside the calls is reported, and so is the end of the connection', () => {
  const { calls, turns, gate } = turnsWith(() => {});
  let isDefect = true;
  Object.defineProperty(gate, 'isStalled', {
    get: () => {
      if (!isDefect) return false;
      isDefect = false;
      throw new Error('a defect');
    },
  });
  turns.push(CONNECT);
  expect(calls).toEqual(['Error: a defect']);
  turns.end('cut');
  expect(calls).toEqual(['Error: a defect', 'lost: cut']);
});

const PUBLISH = Buffer.from('320700016100010078', 'hex');

test('a PUBLISH at QoS 1 is handed over while those before it wait, and other packets and calls behind their answers', async () => {
  const answers: (() => void)[] = [];
  let stage = 'connect';
  const { calls, turns } = turnsWith(() => {
    if (stage === 'connect') return undefined;
    turns.goOn();
    return new Promise((resolve) => answers.push(resolve));
  });
  turns.push(CONNECT);
  stage = 'publish';
  turns.push(Buffer.concat([PUBLISH, PUBLISH, PINGREQ]));
  turns.call(() => {
    calls.push('drain');
  });
  turns.end('cut');
  expect(calls).toEqual(['connect', 'publish', 'publish']);
  expect(turns.isBusy).toBe(true);
  answers[1]?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual(['connect', 'publish', 'publish']);
  answers[0]?.();
  await expect.poll(() => calls, PATIENT).toEqual(['connect', 'publish', 'publish', 'drain', 'pingreq']);
  answers[2]?.();
  await expect.poll(() => calls.at(-1), PATIENT).toBe('lost: cut');
  expect(turns.isBusy).toBe(false);
});

test('a PUBLISH waits where the broker does not go on, and goes on when the broker says so later', async () => {
  const { calls, turns } = turnsWith(() => (calls.length === 1 ? undefined : new Promise(() => {})));
  turns.push(Buffer.concat([CONNECT, PUBLISH, PUBLISH]));
  expect(calls).toEqual(['connect', 'publish']);
  turns.goOn();
  await expect.poll(() => calls, PATIENT).toEqual(['connect', 'publish', 'publish']);
});

test('packets that take long have a turn of the event loop each, and others are served in between [SEC-WORK-5]', async () => {
  const { calls, turns, clock } = turnsWith(() => clock.spend(TURN_MS_MAX / 2));
  turns.push(Buffer.concat([CONNECT, PINGREQ, PINGREQ, PINGREQ]));
  expect(calls).toEqual(['connect', 'pingreq']);
  setImmediate(() => calls.push('another client'));
  await expect
    .poll(() => calls, PATIENT)
    .toEqual(['connect', 'pingreq', 'pingreq', 'pingreq', 'another client']);
});
