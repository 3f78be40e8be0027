import type { BrokerKind } from './brokers/broker.ts';
import type { CaseKind, WiredCase } from './cases.ts';
import type { Sample } from './measure-case.ts';
import { type Spread, spreadOf } from './statistics.ts';

/** All samples of a run, by case, wire and broker. */
export class Results {
  readonly #samples = new Map<string, Sample[]>();

  add(of: WiredCase, broker: BrokerKind, sample: Sample): void {
    const key = keyOf(of, broker);
    this.#samples.set(key, [...(this.#samples.get(key) ?? []), sample]);
  }

  of(given: WiredCase, broker: BrokerKind): readonly Sample[] {
    return this.#samples.get(keyOf(given, broker)) ?? [];
  }

  spread(given: WiredCase, broker: BrokerKind, { read }: Figure): Spread | undefined {
    return spreadOf(this.of(given, broker).flatMap((sample) => read(sample) ?? []));
  }

  /**
   * By what factor Apus is better than the other broker in a figure: above 1 Apus is better, whichever direction is
   * better. It is the median over pairs of samples that were measured one after the other, since a machine is faster in
   * one minute than in the next. Undefined if one of them has no figure.
   */
  advantage(given: WiredCase, ours: BrokerKind, other: BrokerKind, figure: Figure): number | undefined {
    const theirs = this.of(given, other);
    const ratios = this.of(given, ours).flatMap((sample, at) => {
      const neighbour = theirs[at];
      return neighbour === undefined
        ? []
        : (ratio(figure.read(sample), figure.read(neighbour), figure) ?? []);
    });
    return spreadOf(ratios)?.median;
  }

  /** By what factor a broker is better over one wire than over another, in the same way. */
  wireAdvantage(given: WiredCase, other: WiredCase, broker: BrokerKind, figure: Figure): number | undefined {
    const [mine, others] = [given, other].map((each) => this.spread(each, broker, figure)?.median);
    return ratio(mine, others, figure);
  }

  /** A plain object, for a file. */
  toJSON(): Readonly<Record<string, readonly Sample[]>> {
    return Object.fromEntries(this.#samples);
  }
}

function keyOf({ name, wire }: WiredCase, broker: BrokerKind): string {
  return `${name} ${wire} ${broker.name}`;
}

function ratio(
  mine: number | undefined,
  other: number | undefined,
  { isLessBetter }: Figure,
): number | undefined {
  if (mine === undefined || other === undefined || mine <= 0 || other <= 0) return undefined;
  return isLessBetter ? other / mine : mine / other;
}

/** Something that is compared. */
export interface Figure {
  readonly name: string;
  readonly read: (sample: Sample) => number | undefined;
  readonly isLessBetter: boolean;
  readonly digits: 'whole' | 'milliseconds';
}

const PER_CPU_SECOND: Figure = {
  name: 'deliveries per CPU second',
  read: ({ deliveriesPerCpuSecond }) => deliveriesPerCpuSecond,
  isLessBetter: false,
  digits: 'whole',
};
const PER_SECOND: Figure = {
  name: 'deliveries a second',
  read: ({ deliveriesPerSecond }) => deliveriesPerSecond,
  isLessBetter: false,
  digits: 'whole',
};
const P50: Figure = {
  name: 'latency p50, ms',
  read: ({ latencyP50Ms }) => latencyP50Ms,
  isLessBetter: true,
  digits: 'milliseconds',
};
const P99: Figure = {
  name: 'latency p99, ms',
  read: ({ latencyP99Ms }) => latencyP99Ms,
  isLessBetter: true,
  digits: 'milliseconds',
};
const BYTES: Figure = {
  name: 'resident bytes per idle connection',
  read: ({ bytesPerConnection }) => bytesPerConnection,
  isLessBetter: true,
  digits: 'whole',
};
const CONNECT_CPU: Figure = {
  name: 'CPU µs per connection made',
  read: ({ connectCpuMicroseconds }) => connectCpuMicroseconds,
  isLessBetter: true,
  digits: 'whole',
};
const HANDSHAKES: Figure = {
  name: 'handshakes a second',
  read: ({ connectionsPerSecond }) => connectionsPerSecond,
  isLessBetter: false,
  digits: 'whole',
};
const CONNECT_P50: Figure = {
  name: 'connect p50, ms',
  read: ({ connectP50Ms }) => connectP50Ms,
  isLessBetter: true,
  digits: 'milliseconds',
};
const CONNECT_P99: Figure = {
  name: 'connect p99, ms',
  read: ({ connectP99Ms }) => connectP99Ms,
  isLessBetter: true,
  digits: 'milliseconds',
};

/** The figures by which a kind of case is compared, the most important first. */
export const COMPARED: Readonly<Record<CaseKind, readonly Figure[]>> = {
  handshakes: [HANDSHAKES, CONNECT_CPU],
  idle: [BYTES, CONNECT_CPU],
  paced: [PER_CPU_SECOND, P50, P99],
  saturated: [PER_CPU_SECOND, PER_SECOND],
};

/** The figures that are shown, with the spread of the rounds. */
export const SHOWN: Readonly<Record<CaseKind, readonly Figure[]>> = {
  handshakes: [HANDSHAKES, CONNECT_CPU, CONNECT_P50, CONNECT_P99],
  idle: [BYTES, CONNECT_CPU, CONNECT_P50, CONNECT_P99],
  paced: [PER_CPU_SECOND, PER_SECOND, P50, P99],
  saturated: [PER_CPU_SECOND, PER_SECOND, P50, P99],
};
