import { Latencies, LEDGER_VERSION, type Ledger, type Percentiles } from '../measure/index.ts';
import { type DeliveryCounts, deliveryCounts } from './delivery-counts.ts';

/** The fate of the messages of a run. */
export interface Deliveries extends DeliveryCounts {
  /** Payloads of other publishers. */
  readonly foreign: number;
  readonly latencyMs: Percentiles;
}

export interface Publishes {
  readonly sent: number;
  readonly acknowledged: number;
  readonly unacknowledged: number;
  readonly notSent: number;
  readonly acknowledgeMs: Percentiles;
}

export interface Connections {
  readonly asked: number;
  readonly connected: number;
  readonly lost: number;
  readonly connectMs: Percentiles;
}

/** The sum of several processes' ledgers. */
export interface Outcome {
  readonly deliveries: Deliveries;
  readonly publishes: Publishes;
  readonly connections: Connections;
  readonly problems: Readonly<Record<string, number>>;
  readonly generator: {
    readonly processes: number;
    readonly cpuSeconds: number;
    readonly lagMs: Percentiles;
  };
  /** From the first connection attempt to the last CONNACK. */
  readonly connectingSeconds: number;
  /** From the first message sent to the last one sent, and received; 0 without messages. */
  readonly sendingSeconds: number;
  readonly receivingSeconds: number;
}

/** A ledger of another run, or with another layout. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
}

/**
 * In a stopped run, missing messages were still in flight, and the run did not wait for them: they are in doubt, and
 * not lost.
 *
 * @throws {LedgerError} for ledgers of different runs or of another version
 */
export function outcomeOf(ledgers: readonly Ledger[], wasStopped = false): Outcome {
  checkLedgers(ledgers);
  const published = ledgers.flatMap((ledger) => ledger.published);
  const latencies = (name: keyof Ledger['latencies']) => {
    const sum = new Latencies();
    for (const ledger of ledgers) sum.add(new Latencies(ledger.latencies[name]));
    return sum.percentiles();
  };
  const sum = (read: (ledger: Ledger) => number) =>
    ledgers.reduce((total, ledger) => total + read(ledger), 0);
  const sent = published.reduce((total, stream) => total + stream.sent, 0);
  const unacknowledged = published.reduce((total, stream) => total + stream.unacknowledged.length, 0);
  const acknowledgeable = published.reduce((total, { qos, sent: count }) => total + (qos > 0 ? count : 0), 0);
  const times = timesOf(ledgers);
  const counts = deliveryCounts(
    published,
    ledgers.flatMap(({ subscribers }) => subscribers),
  );
  return {
    deliveries: {
      ...(wasStopped ? withoutLoss(counts) : counts),
      foreign: sum((ledger) => ledger.foreign),
      latencyMs: latencies('delivery'),
    },
    publishes: {
      sent,
      acknowledged: acknowledgeable - unacknowledged,
      unacknowledged,
      notSent: published.reduce((total, stream) => total + stream.notSent, 0),
      acknowledgeMs: latencies('acknowledge'),
    },
    connections: {
      asked: sum(({ connections }) => connections.asked),
      connected: sum(({ connections }) => connections.connected),
      lost: sum(({ connections }) => connections.lost),
      connectMs: latencies('connect'),
    },
    problems: problemsOf(ledgers),
    generator: {
      processes: ledgers.length,
      cpuSeconds: sum(({ cpuMicroseconds }) => cpuMicroseconds) / 1_000_000,
      lagMs: latencies('lag'),
    },
    connectingSeconds: times.seconds('firstAskedMicros', 'lastConnectedMicros'),
    sendingSeconds: times.seconds('firstSentMicros', 'lastSentMicros'),
    receivingSeconds: times.seconds('firstSentMicros', 'lastReceivedMicros'),
  };
}

function withoutLoss(counts: DeliveryCounts): DeliveryCounts {
  return { ...counts, lost: 0, inDoubt: counts.inDoubt + counts.lost };
}

function problemsOf(ledgers: readonly Ledger[]): Readonly<Record<string, number>> {
  const problems = new Map<string, number>();
  for (const { connections } of ledgers) {
    for (const [sentence, times] of Object.entries(connections.problems))
      problems.set(sentence, (problems.get(sentence) ?? 0) + times);
  }
  return Object.fromEntries(problems);
}

type TimeName = keyof Ledger['times'];

/**
 * Seconds from the first event of one kind to the last of another, over all processes; 0 if one kind never happened.
 */
function timesOf(ledgers: readonly Ledger[]) {
  const all = (name: TimeName) => ledgers.flatMap(({ times }) => times[name] ?? []);
  return {
    seconds(from: TimeName, to: TimeName): number {
      const first = all(from).reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
      const last = all(to).reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY);
      return last > first ? (last - first) / 1_000_000 : 0;
    },
  };
}

function checkLedgers(ledgers: readonly Ledger[]): void {
  const [first] = ledgers;
  for (const { version, runTag } of ledgers) {
    if (version !== LEDGER_VERSION)
      throw new LedgerError(
        `a ledger of version ${version} cannot be read; this is version ${LEDGER_VERSION}`,
      );
    if (runTag !== first?.runTag)
      throw new LedgerError(`the ledgers are of different runs (${first?.runTag} and ${runTag})`);
  }
}
