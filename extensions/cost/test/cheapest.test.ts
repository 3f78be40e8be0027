import { describe, expect, it } from 'vitest';
import { bidsBySize, rangesOf } from '../src/cheapest.ts';
import {
  awsIotCore,
  bidsFor,
  billOf,
  CLIENTS_MAX,
  estimate,
  GATEWAY_DOOR,
  NODE_DOOR,
  OBJECT_DOOR,
  PROGRAMS,
  type Program,
  programBids,
  programsText,
  rangesText,
} from '../src/index.ts';

function programNamed(name: string): Program {
  const program = PROGRAMS.find((each) => each.name === name);
  if (program === undefined) throw new Error(`there is no ${name}`);
  return program;
}

/** The cheapest service that carries the traffic, found by trying each. */
function cheapestAt(program: Program, clients: number): string {
  const [best] = bidsFor(program, clients)
    .filter(({ misfits }) => misfits.length === 0)
    .sort((a, b) => a.usd - b.usd);
  return best?.service ?? '';
}

describe('a program at each service', () => {
  it('costs as much as the estimate of its workload', () => {
    const program = programNamed('a chat');
    const { usage, traffic } = estimate(program.workload(50));
    const bids = new Map(bidsFor(program, 50).map(({ service, usd }) => [service, usd]));
    expect(bids.get(GATEWAY_DOOR)).toBe(billOf(usage).usd);
    expect(bids.get('AWS IoT Core')).toBe(awsIotCore(traffic).bill.usd);
    expect([...bids.keys()]).toEqual([
      GATEWAY_DOOR,
      OBJECT_DOOR,
      NODE_DOOR,
      'Ably',
      'AWS AppSync Events',
      'AWS IoT Core',
      'EMQX Serverless',
    ]);
  });

  it.each(PROGRAMS)('$name can be estimated with one client and with a million', (program) => {
    for (const clients of [1, 2, CLIENTS_MAX])
      for (const { usd } of bidsFor(program, clients)) expect(usd).toBeGreaterThan(0);
  });
});

describe('the cheapest by the number of clients', () => {
  it.each(PROGRAMS)(
    '$name: the ranges follow one another, and change where the cheapest changes',
    (program) => {
      const ranges = rangesOf(bidsBySize(program, {}));
      expect(ranges.at(0)?.from).toBe(1);
      expect(ranges.at(-1)?.to).toBe(CLIENTS_MAX);
      for (const [index, { from, to, service }] of ranges.entries()) {
        expect([cheapestAt(program, from), cheapestAt(program, to)]).toEqual([service, service]);
        const next = ranges[index + 1];
        if (next === undefined) continue;
        expect(next.from).toBe(to + 1);
        expect(next.service).not.toBe(service);
      }
    },
  );

  it('leaves out a service that does not carry the traffic', () => {
    const ranges = rangesOf(bidsBySize(programNamed('a chat'), {}));
    const emqx = ranges.filter(({ service }) => service === 'EMQX Serverless');
    expect(emqx.length).toBeGreaterThan(0);
    for (const { to } of emqx) expect(to).toBeLessThanOrEqual(1_000);
    expect(ranges.map(({ service }) => service)).not.toContain('Ably');
  });

  it('leaves out services that were not requested', () => {
    const ranges = rangesOf(
      bidsBySize(programNamed('a fleet of devices'), {}),
      (service) => service === GATEWAY_DOOR,
    );
    expect(ranges).toEqual([{ from: 1, to: CLIENTS_MAX, service: GATEWAY_DOOR }]);
    expect(rangesText(ranges)).toBe('Apus, gateway door at every size');
  });

  it('is named with the size from which it holds', () => {
    const ranges = [
      { from: 1, to: 999, service: 'A' },
      { from: 1_000, to: CLIENTS_MAX, service: 'B' },
    ];
    expect(rangesText(ranges)).toBe('A; B from 1,000');
  });
});

it('the six programs as text have a row each, and put prices in brackets of services that do not carry them', () => {
  const outcomes = programBids();
  expect(outcomes).toHaveLength(6);
  const text = programsText(outcomes);
  for (const { program } of outcomes) expect(text).toMatch(new RegExp(`^${program.name} .*\\$`, 'm'));
  expect(text).toMatch(/^a chat .* \(\$[\d.,]+\) /m);
  expect(text).toContain('Ably: MQTT subscribers get QoS 0 only.');
});
