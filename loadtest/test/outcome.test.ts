import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Ledger, type Publisher, Recorder, type Subscriber } from '../src/measure/index.ts';
import { LedgerError, outcomeOf } from '../src/report/outcome.ts';

/** A run by hand: the sent messages, and those that each subscriber receives, with their order and number. */
class Run {
  readonly recorder: Recorder;

  constructor(worker = 0, runTag = 3) {
    this.recorder = new Recorder({ runTag, worker, clock: 'monotonic' });
  }

  /** Payloads of so many messages, acknowledged unless told otherwise. */
  send(
    topic: string,
    count: number,
    { qos = 1 as 0 | 1 | 2, unacknowledged = [] as number[] } = {},
  ): Buffer[] {
    const publisher: Publisher = this.recorder.publisher(topic, qos, 16);
    return Array.from({ length: count }, (_, counter) => {
      const payload = Buffer.alloc(16);
      publisher.stamp(payload, this.recorder.now());
      if (qos > 0 && !unacknowledged.includes(counter)) publisher.acknowledged(counter);
      return payload;
    });
  }

  receive(filters: readonly string[], payloads: readonly (Buffer | undefined)[]): Subscriber {
    const subscriber = this.recorder.subscriber(filters);
    for (const payload of payloads) if (payload !== undefined) subscriber.take(payload);
    return subscriber;
  }

  get counts() {
    const { latencyMs, ...counts } = outcomeOf([this.recorder.ledger()]).deliveries;
    expect(latencyMs.count).toBe(counts.received + counts.unexpected);
    return counts;
  }
}

const NOTHING_WRONG = { lost: 0, inDoubt: 0, duplicates: 0, outOfOrder: 0, unexpected: 0, foreign: 0 };

describe('the counts of a report, with faults put into it by hand', () => {
  it('of a run that was stopped, missing messages are in doubt: the run did not wait for them', () => {
    const run = new Run();
    const messages = run.send('a', 3);
    run.receive(['a'], messages.slice(0, 2));
    const ledgers = [run.recorder.ledger()];
    expect(outcomeOf(ledgers).deliveries).toMatchObject({ lost: 1, inDoubt: 0 });
    expect(outcomeOf(ledgers, true).deliveries).toMatchObject({ lost: 0, inDoubt: 1, received: 2 });
  });

  it('a run without faults', () => {
    const run = new Run();
    const messages = run.send('t', 5);
    run.receive(['t'], messages);
    run.receive(['+'], messages);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 10, received: 10 });
  });

  it('one message in the middle and the last two are lost', () => {
    const run = new Run();
    const [a, b, , d] = run.send('t', 6);
    run.receive(['t'], [a, b, d]);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 6, received: 3, lost: 3 });
  });

  it('all of a stream is lost to a subscriber that has received nothing', () => {
    const run = new Run();
    run.send('t', 4, { qos: 0 });
    run.receive(['#'], []);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 4, received: 0, lost: 4 });
  });

  it('a message that the broker has not acknowledged is in doubt, and not lost', () => {
    const run = new Run();
    const [a] = run.send('t', 3, { unacknowledged: [1] });
    run.receive(['t'], [a]);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 3, received: 1, lost: 1, inDoubt: 1 });
  });

  it('duplicates are counted apart, and make up for nothing that is lost', () => {
    const run = new Run();
    const [a, , c] = run.send('t', 3);
    run.receive(['t'], [a, a, c, a]);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 3, received: 2, lost: 1, duplicates: 2 });
  });

  it('a message after a later one is out of order; a duplicate that comes late is a duplicate', () => {
    const run = new Run();
    const [a, b, c] = run.send('t', 3);
    run.receive(['t'], [a, c, b, a]);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 3, received: 3, outOfOrder: 1, duplicates: 1 });
  });

  it('order is that of one publisher and topic', () => {
    const run = new Run();
    const [a, b] = run.send('t', 2);
    const [x, y] = run.send('t', 2);
    run.receive(['t'], [x, a, y, b]);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 4, received: 4 });
  });

  it('a message that two filters of a subscriber match is expected once', () => {
    const run = new Run();
    run.receive(['t', '+'], run.send('t', 2));
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 2, received: 2 });
  });

  it('messages of a topic that was not subscribed to are unexpected', () => {
    const run = new Run();
    run.receive(['other'], run.send('t', 2));
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 0, received: 0, unexpected: 2 });
  });

  it('a counter that was never sent is unexpected', () => {
    const run = new Run();
    const [a] = run.send('t', 1);
    const made = Buffer.from(a ?? []);
    made.writeUInt32BE(9, 6);
    run.receive(['t'], [a, made]);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 1, received: 1, unexpected: 1 });
  });

  it('a share group: each message once among its members', () => {
    const run = new Run();
    const [a, b, c, d] = run.send('s/1', 4);
    run.receive(['$share/g/s/#'], [a, c]);
    run.receive(['$share/g/s/#'], [b, b]);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 4, received: 3, lost: 1, duplicates: 1 });
    expect(d).toBeDefined();
  });

  it('a share group: a message to two members is a duplicate', () => {
    const run = new Run();
    const [a, b] = run.send('s/1', 2);
    run.receive(['$share/g/s/#'], [a, b]);
    run.receive(['$share/g/s/#'], [b]);
    const { deliveries } = outcomeOf([run.recorder.ledger()]);
    expect(deliveries).toMatchObject({ expected: 2, received: 2, duplicates: 1, lost: 0, unexpected: 0 });
  });

  it('two share groups each get every message', () => {
    const run = new Run();
    const messages = run.send('s/1', 2);
    run.receive(['$share/g/s/#'], messages);
    run.receive(['$share/h/s/#'], messages);
    expect(run.counts).toEqual({ ...NOTHING_WRONG, expected: 4, received: 4 });
  });
});

describe('ledgers of several processes', () => {
  it('are one run: a publisher in one, its subscribers in another', () => {
    const [sender, receiver] = [new Run(0), new Run(1)];
    const [a, , c] = sender.send('t', 3);
    receiver.receive(['t'], [a, c]);
    receiver.recorder.problem('it rained');
    sender.recorder.problem('it rained');
    const outcome = outcomeOf([sender.recorder.ledger(), receiver.recorder.ledger()]);
    expect(outcome.deliveries).toMatchObject({ expected: 3, received: 2, lost: 1 });
    expect(outcome.publishes).toMatchObject({ sent: 3, acknowledged: 3 });
    expect(outcome.problems).toEqual({ 'it rained': 2 });
    expect(outcome.generator.processes).toBe(2);
  });

  it('of different runs, or of another version, are refused', () => {
    const [one, other] = [new Run(0, 1).recorder.ledger(), new Run(0, 2).recorder.ledger()];
    expect(() => outcomeOf([one, other])).toThrow(LedgerError);
    expect(() => outcomeOf([one, other])).toThrow(/different runs/);
    expect(() => outcomeOf([{ ...one, version: 0 } as unknown as Ledger])).toThrow(/version 0/);
  });

  it('of nothing are an outcome of zeros', () => {
    expect(outcomeOf([]).deliveries).toMatchObject({ expected: 0, received: 0, lost: 0 });
  });
});

describe('any damage', () => {
  it('is counted as by a reference that remembers everything', () => {
    const damage = fc.record({
      sent: fc.integer({ min: 1, max: 40 }),
      got: fc.array(fc.integer({ min: 0, max: 39 }), { maxLength: 80 }),
    });
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (streams) => {
        const run = new Run();
        let expected = { expected: 0, received: 0, lost: 0, duplicates: 0, outOfOrder: 0 };
        for (const [index, { sent, got }] of streams.entries()) {
          const messages = run.send(`t/${index}`, sent);
          const counters = got.filter((counter) => counter < sent);
          run.receive(
            [`t/${index}`],
            counters.map((counter) => messages[counter]),
          );
          const seen = new Set(counters);
          const firsts = counters.filter((counter, at) => counters.indexOf(counter) === at);
          expected = {
            expected: expected.expected + sent,
            received: expected.received + seen.size,
            lost: expected.lost + sent - seen.size,
            duplicates: expected.duplicates + counters.length - seen.size,
            outOfOrder:
              expected.outOfOrder +
              firsts.filter((counter, at) => firsts.slice(0, at).some((earlier) => earlier > counter)).length,
          };
        }
        expect(run.counts).toMatchObject({ ...expected, inDoubt: 0, unexpected: 0 });
      }),
    );
  });
});
