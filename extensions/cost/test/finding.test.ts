import { describe, expect, it } from 'vitest';
import {
  billOf,
  compare,
  estimate,
  findingOf,
  type GivenWorkload,
  nodeDoor,
  OBJECT_DOOR,
  SMALL_MACHINE,
  usdText,
} from '../src/index.ts';

function findingFor(given: GivenWorkload, isCompared: (service: string) => boolean = () => true) {
  const { usage, operations, traffic } = estimate(given);
  const bill = billOf(usage);
  const offers = compare(traffic).filter(({ service }) => isCompared(service));
  return findingOf(bill, { operations, offers, nodeDoor: nodeDoor(traffic) });
}

describe('the findings in a bill', () => {
  it('idle clients pay for being connected; beyond a thousand a machine is cheaper, and IoT Core too', () => {
    const { largest, cause, sentences } = findingFor({ clients: 2_000 });
    expect(largest?.usage).toBe('connectionMinutes');
    expect(cause).toBe('online');
    const text = sentences.join('\n');
    expect(text).toMatch(/Connect only while somebody looks/);
    expect(text).toMatch(/node door on a machine .* would cost \$24\.00 a month, \$\d+\.\d\d less/);
    expect(text).toMatch(/AWS IoT Core would be cheaper/);
    expect(text).not.toMatch(/Ably would be cheaper/);
  });

  it('a few clients for a few hours: only services without idle costs are cheaper', () => {
    const { sentences } = findingFor({ clients: 20, hours: 2, fifoQueues: 0, standardQueues: 0 });
    expect(sentences.join('\n')).toMatch(/machine of your own .* would cost \$24\.00 a month: no less/);
  });

  it('fan-out pays for deliveries, and the advice is about them', () => {
    const { largest, cause, sentences } = findingFor({
      clients: 10_000,
      publisherShare: 0.001,
      publishesPerHour: 600,
      fanOut: 5_000,
      qos: 1,
    });
    expect(largest?.usage).toBe('gatewayMessagesOut');
    expect(cause).toBe('deliver');
    expect(sentences[1]).toMatch(/fewer, larger messages/);
  });

  it('dense publishers are told to let packets share frames', () => {
    const { cause, sentences } = findingFor({ clients: 10, publishesPerHour: 30_000, fanOut: 0.1, qos: 1 });
    expect(cause).toBe('publish');
    expect(sentences[1]).toMatch(/shares a frame/);
  });

  it('clients that are often cut pay for their resumes', () => {
    const { cause, sentences } = findingFor({ clients: 100, lossesPerDay: 2_000, subscriptions: 100 });
    expect(cause).toBe('resume');
    expect(sentences[0]).toMatch(/mostly from sessions that go on after a lost connection/);
  });

  it('a cheaper service that lacks something is named with what it lacks', () => {
    const toAll = { publishesPerHour: 60, publisherShare: 0.001, fanOut: 1_000, qos: 1 };
    const text = findingFor({ clients: 1_000, ...toAll }).sentences.join('\n');
    expect(text).toMatch(/AWS IoT Core would be cheaper by its published prices: \$46\.76\.$/m);
    expect(text).toMatch(/AWS AppSync Events would be cheaper .* But: There is no QoS 1/);
    expect(text).not.toContain('None of');
  });

  it('that no other service is cheaper is said of those that were compared, and only where it is so', () => {
    const toAll = { publisherShare: 0.0005, publishesPerHour: 60, fanOut: 2_000, qos: 1 };
    const isService = (service: string) => service !== OBJECT_DOOR;
    const said = (bytes: number) =>
      findingFor({ clients: 2_000, ...toAll, bytes }, isService).sentences.join('\n');
    expect(said(20_000)).toContain(
      'None of AWS IoT Core, EMQX Serverless, AWS AppSync Events, Ably would be cheaper by its published prices.',
    );
    expect(said(200)).not.toContain('None of');
  });

  it('a machine that is too small is not suggested', () => {
    const text = findingFor({ clients: SMALL_MACHINE.connectionsMax + 1 }).sentences.join('\n');
    expect(text).toMatch(/no choice: One process takes 18,000 connections/);
  });

  it('counts the outgoing traffic of a machine by the gigabyte', () => {
    const { traffic } = estimate({ clients: 10, publishesPerHour: 3_600, bytes: 1_000, topicBytes: 24 });
    // 10 × 2,592,000 messages of 1,024 bytes are 26.5 GB.
    expect(nodeDoor(traffic).usd).toBeCloseTo(24 + 26.54208 * 0.09, 6);
  });

  it('are empty with a reason if nothing was used', () => {
    expect(findingOf(billOf({}), {}).sentences).toEqual(['Nothing was used.']);
  });
});

describe('dollars for people', () => {
  it.each([
    [0, '$0.00'],
    [1_234.567, '$1,234.57'],
    [0.5, '$0.50'],
    [0.025_883, '$0.0259'],
    [0.000_000_833, '$0.000000833'],
  ])('%d is %s', (usd, text) => expect(usdText(usd)).toBe(text));
});
