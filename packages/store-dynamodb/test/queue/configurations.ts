import { type Configuration, QUIET } from './world.ts';

export interface NamedConfiguration {
  readonly name: string;
  readonly config: Configuration;
}

const named = (name: string, config: Partial<Configuration>): NamedConfiguration => ({
  name,
  config: { ...QUIET, ...config },
});

/** Each is explored completely within seconds: a part of `npm test`. */
export const SMALL: readonly NamedConfiguration[] = [
  named('two publishers', { publishers: ['1', '1'] }),
  named('QoS 2 beside QoS 1, with room for two', { publishers: ['2', '1'], receiveMaximum: 2 }),
  named('two in a frame, of which one fits, and a log that is read in part', {
    publishers: ['11', '1'],
    logItemsRead: 1,
  }),
  named('a client that leaves', { publishers: ['1|1', ''], reconnects: 1 }),
  named('a client that leaves while handlers die', { publishers: ['1', ''], reconnects: 1, crashes: 1 }),
  named('a client that leaves twice', { publishers: ['1', ''], reconnects: 2 }),
  named('QoS 2 for a client that leaves', { publishers: ['2|2', ''], reconnects: 1 }),
  named('QoS 2 while handlers die', { publishers: ['2|2', ''], crashes: 1 }),
  named('QoS 2 with lost answers and lost replies', {
    publishers: ['2|1', ''],
    lostAnswers: 1,
    lostReplies: 1,
  }),
  named('two publishers whose handlers die', { publishers: ['1', '1'], crashes: 1 }),
  named('two in a frame at QoS 2, beside another, whose handlers die', {
    publishers: ['22', ''],
    receiveMaximum: 2,
    crashes: 1,
  }),
  named('QoS 2 while handlers die, and the record forgets what is complete', {
    publishers: ['2|2', ''],
    crashes: 1,
    namesKept: 0,
  }),
  named('QoS 2 for a client that leaves, and the record forgets what is complete', {
    publishers: ['2', ''],
    ...{ reconnects: 1, crashes: 1, namesKept: 0 },
  }),
  named('QoS 2 for a share group while handlers die', {
    publishers: ['2|2', ''],
    ...{ crashes: 1, isShared: true },
  }),
  named('two in a frame at QoS 2 for a share group, whose handlers die', {
    publishers: ['22', ''],
    ...{ receiveMaximum: 2, crashes: 1, isShared: true },
  }),
  named('a client that moves', { publishers: ['1|1', ''], moves: 1 }),
  named('a client that moves, and a publisher of QoS 2', { publishers: ['2|1', ''], moves: 1 }),
  named('a client that moves while handlers die', { publishers: ['1', ''], moves: 1, crashes: 1 }),
  named('a client that moves, and a job', { publishers: ['', ''], worker: '1', moves: 1 }),
];

/** Each takes as long as several of the others: in CI. */
export const IN_CI: readonly NamedConfiguration[] = [
  named('a publisher that goes on beside another', { publishers: ['1|1', '1'] }),
  named('a publisher that goes on beside another, with room for two', {
    publishers: ['1|1', '1'],
    receiveMaximum: 2,
  }),
  named('a publisher that goes on beside another, where the client holds pushes back', {
    publishers: ['1|1', '1'],
    isHolding: true,
  }),
  named('posts of unknown fate', { publishers: ['1|2', ''], postsOfUnknownFate: 1, reconnects: 1 }),
  named('a client that moves, and leaves', { publishers: ['1', ''], moves: 1, reconnects: 1 }),
  named('a job that comes twice', { publishers: ['', ''], worker: '1', earlyRedeliveries: 1, crashes: 1 }),
  named('a job of QoS 2 that comes twice', {
    publishers: ['', ''],
    worker: '2',
    earlyRedeliveries: 1,
    reconnects: 1,
  }),
  named('a job of QoS 2 that comes twice while handlers die, and the record forgets what is complete', {
    publishers: ['', ''],
    worker: '2',
    ...{ earlyRedeliveries: 1, crashes: 1, namesKept: 0 },
  }),
  named('a job of QoS 2 for a share group that comes twice', {
    publishers: ['', ''],
    worker: '2',
    ...{ earlyRedeliveries: 1, reconnects: 1, isShared: true },
  }),
  named('QoS 2 for a share group, with lost answers and lost replies', {
    publishers: ['2|1', ''],
    ...{ lostAnswers: 1, lostReplies: 1, isShared: true },
  }),
];

/** Each takes minutes: `APUS_RECORD_MODEL=large`. */
export const LARGE: readonly NamedConfiguration[] = [
  named('two publishers that go on, with room for two', { publishers: ['1|1', '1|1'], receiveMaximum: 2 }),
  named('QoS 2 and then QoS 1 for a client that leaves while handlers die', {
    publishers: ['2|1', ''],
    crashes: 1,
    reconnects: 1,
  }),
  named('two publishers, a client that leaves', { publishers: ['1|1', '1'], reconnects: 1 }),
  named('two publishers, a client that leaves while handlers die', {
    publishers: ['1', '1'],
    crashes: 1,
    reconnects: 1,
  }),
  named('a job that comes twice, for a client that leaves while handlers die', {
    publishers: ['', ''],
    worker: '1',
    earlyRedeliveries: 1,
    crashes: 1,
    reconnects: 1,
  }),
  named('a job of QoS 2 that comes twice beside a publisher', {
    publishers: ['1', ''],
    worker: '2',
    earlyRedeliveries: 1,
  }),
  named('two publishers, and a client that moves', { publishers: ['1|1', '2'], receiveMaximum: 2, moves: 1 }),
  named('a publisher and a job, and a client that moves', { publishers: ['1', ''], worker: '1', moves: 1 }),
  named('QoS 2 for a client that moves while handlers die', {
    publishers: ['2|1', ''],
    moves: 1,
    crashes: 1,
  }),
  named('a client that moves and leaves while handlers die', {
    publishers: ['1|1', ''],
    ...{ moves: 1, crashes: 1, reconnects: 1 },
  }),
];
