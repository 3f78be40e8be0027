import type { ApiAnswer, PeerRequest } from '@apus/node';
import { expect, test } from 'vitest';
import type { Bus } from '../src/bus.ts';
import type { Frame } from '../src/frames.ts';
import { ASKED_MAX } from '../src/limits.ts';
import { Questions } from '../src/questions.ts';

const REQUEST: PeerRequest = { operation: 'listClients', tenant: 'default', parameters: {}, query: '' };
const ANSWER: ApiAnswer = { status: 200, body: { count: 1 } };

function composed() {
  const sent: Extract<Frame, { type: 'ask' }>[] = [];
  const timers = new Set<() => void>();
  const bus = { send: (_process: string, frame: Frame) => sent.push(frame as never) } as unknown as Bus;
  const clock = {
    now: () => 0,
    after(_ms: number, call: () => void) {
      timers.add(call);
      return () => timers.delete(call);
    },
  };
  const questions = new Questions(bus, clock as never);
  return { sent, timers, questions };
}

test('a process that does not answer is given up, and its late answer goes to no other question', async () => {
  const { sent, timers, questions } = composed();
  const late = questions.ask('a', REQUEST);
  for (const fire of [...timers]) fire();
  expect(await late).toBe(undefined);
  const next = questions.ask('a', REQUEST);
  questions.answered(sent[0]?.id ?? 0, { status: 404 });
  questions.answered(sent[1]?.id ?? 0, ANSWER);
  expect(await next).toBe(ANSWER);
});

test('no more questions wait than the limit', async () => {
  const { sent, timers, questions } = composed();
  const waiting = Array.from({ length: ASKED_MAX }, () => questions.ask('a', REQUEST));
  expect(await questions.ask('a', REQUEST)).toBe(undefined);
  expect(sent).toHaveLength(ASKED_MAX);
  for (const { id } of sent) questions.answered(id, ANSWER);
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => ANSWER));
  expect(timers.size).toBe(0);
  expect(questions.ask('a', REQUEST)).not.toBe(undefined);
  expect(sent).toHaveLength(ASKED_MAX + 1);
});
