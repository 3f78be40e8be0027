import type { Plan } from '../scenario/plan.ts';
import type { GeneratorName } from '../scenario/scenario.ts';
import type { RunBill, RunSeconds } from './bill-of-run.ts';
import type { MachineInfo } from './machine.ts';
import type { Outcome } from './outcome.ts';

/** The resources that the broker's own process has used, if it reports them (`apus serve --counters`). */
export interface BrokerUse {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** The end of a run: everything that was measured, the size it was measured at, and the bill. */
export interface Report {
  readonly scenario: { readonly name: string; readonly title: string; readonly source: string };
  readonly published: string | undefined;
  readonly target: string;
  readonly door: 'node' | 'gateway';
  readonly generator: GeneratorName;
  readonly mqttVersion: string;
  readonly startedAt: string;
  /** The published number of clients, and the part of it that this run had. */
  readonly scale: number;
  readonly part: { readonly number: number; readonly of: number };
  readonly clients: number;
  readonly seconds: RunSeconds;
  readonly machine: MachineInfo;
  readonly outcome: Outcome;
  readonly rates: {
    readonly connectsPerSecond: number;
    readonly publishesPerSecond: number;
    readonly deliveriesPerSecond: number;
  };
  readonly goals: readonly GoalResult[];
  readonly broker: (BrokerUse & { readonly deliveriesPerCpuSecond: number | undefined }) | undefined;
  readonly bill: RunBill | undefined;
  /** Whether the run was ended early. */
  readonly wasStopped: boolean;
  readonly problems: readonly string[];
}

export interface GoalResult {
  readonly goal: string;
  readonly measured: number;
  readonly isMet: boolean;
}

export interface ReportFacts {
  readonly plan: Plan;
  readonly target: string;
  readonly door: 'node' | 'gateway';
  readonly generator: GeneratorName;
  readonly startedAt: Date;
  readonly seconds: RunSeconds;
  readonly machine: MachineInfo;
  readonly outcome: Outcome;
  readonly broker: BrokerUse | undefined;
  readonly bill: RunBill | undefined;
  readonly wasStopped: boolean;
  readonly problems: readonly string[];
}

export function reportOf(facts: ReportFacts): Report {
  const { plan, outcome, seconds, broker } = facts;
  const { scenario, size } = plan;
  const { deliveries, publishes, connections } = outcome;
  // From the first of ten messages to the last, at one a second, are nine seconds.
  const planned = facts.wasStopped ? 0 : size.seconds;
  return {
    scenario: { name: scenario.name, title: scenario.title, source: scenario.source },
    published: scenario.published,
    target: facts.target,
    door: facts.door,
    generator: facts.generator,
    mqttVersion: scenario.mqttVersion,
    startedAt: facts.startedAt.toISOString(),
    scale: size.scale,
    part: size.part,
    clients: plan.clients,
    seconds,
    machine: facts.machine,
    outcome,
    rates: {
      connectsPerSecond: rate(connections.connected, outcome.connectingSeconds),
      publishesPerSecond: rate(publishes.sent, Math.max(outcome.sendingSeconds, planned)),
      deliveriesPerSecond: rate(deliveries.received, Math.max(outcome.receivingSeconds, planned)),
    },
    goals: goalResults(plan, outcome),
    broker: broker && {
      ...broker,
      deliveriesPerCpuSecond:
        broker.cpuSeconds > 0 && deliveries.received > 0
          ? deliveries.received / broker.cpuSeconds
          : undefined,
    },
    bill: facts.bill,
    wasStopped: facts.wasStopped,
    problems: [...facts.problems, ...problemSentences(outcome)],
  };
}

function rate(count: number, seconds: number): number {
  return seconds > 0 ? count / seconds : 0;
}

function goalResults({ scenario }: Plan, { deliveries }: Outcome): readonly GoalResult[] {
  const { p95Ms, p99Ms, lost } = scenario.goals;
  const results: GoalResult[] = [];
  const compare = (goal: string, most: number | undefined, measured: number) => {
    if (most !== undefined)
      results.push({ goal: `${goal} at most ${most}`, measured, isMet: measured <= most });
  };
  compare('p95 latency in ms', p95Ms, deliveries.latencyMs.p95);
  compare('p99 latency in ms', p99Ms, deliveries.latencyMs.p99);
  compare('messages lost', lost, deliveries.lost);
  return results;
}

function problemSentences({ problems }: Outcome): readonly string[] {
  return Object.entries(problems)
    .sort(([, a], [, b]) => b - a)
    .map(([sentence, times]) => `${times.toLocaleString('en')} times: ${sentence}.`);
}
