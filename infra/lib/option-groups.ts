import type { Option } from '@apus/aws/function-options';
import { POSTS_PER_SECOND_MAX } from './defaults.ts';

/**
 * A row is an option of a deployment: the prop is made from it, and with `help` also the flag, the key of the CDK
 * context and the line of docs/generated/options.md. Its checks are `range` and `choices`.
 */
export interface Row extends Option {
  readonly help?: string;
  /** The name of the flag in camel case. @default the name of the prop */
  readonly flag?: string;
  /** The placeholder of the value in the help. @default COUNT, and FILE for JSON */
  readonly value?: string;
  /** The default value, in words. */
  readonly preset?: string;
  /** The flag takes `none` as well: the prop is then false. */
  readonly none?: true;
  /** The member of the file's object that is the prop. @default the whole file */
  readonly within?: string;
  /** A hint for a value outside the range. */
  readonly hint?: string;
  /** What a text matches, and the words for it, between its name and `not …`. */
  readonly rule?: readonly [pattern: RegExp, words: string];
}

export type Rows = Readonly<Record<string, Row>>;

/** There is no largest value. */
const UP = Number.MAX_SAFE_INTEGER;
/** The most requests a second of an account: no larger quota is known. */
const PER_SECOND = [1, 1_000_000] as const;

/** The options of the prop `throttle`. */
export const THROTTLE = {
  /** Frames a second, of all clients together, from 1 up. The account's quota (10,000) is above it. @default 500 */
  framesPerSecond: {
    ...{ kind: 'count', range: PER_SECOND, preset: '500' },
    help: 'Frames that all clients together may send in a second.',
  },
  /** Frames that may come at once, from 1 up; the account's quota is 5,000. @default twice `framesPerSecond` */
  burstFrames: {
    ...{ kind: 'count', range: PER_SECOND, preset: 'twice --frames-per-second' },
    help: 'Frames that all clients together may send at once (burst).',
  },
} as const satisfies Rows;

/** The options of the prop `fanOut`. */
export const FAN_OUT = {
  /**
   * Posts a second of all workers together, from 20 to 256,000. Posts draw on the account's quota of requests (10,000
   * a second), which frames and your other APIs share: the default takes a tenth of it.
   * @default 1,000
   */
  maxPostsPerSecond: {
    ...{ kind: 'count', range: [20, POSTS_PER_SECOND_MAX], preset: '1000' },
    hint: 'They draw on the requests that an account may make, 10,000 a second unless that was raised.',
    help: 'Posts that all fan-out workers together send in a second.',
  },
} as const satisfies Rows;

/** The options of the prop `breaker`. */
export const BREAKER = {
  /**
   * Messages to and from clients in one minute above which the breaker trips, from 1,000 up. The default is $6.00 an
   * hour of messages, and about as much again for the functions and the table.
   * @default 100,000
   */
  messagesPerMinuteMax: {
    ...{ kind: 'count', range: [1_000, UP], preset: '100000' },
    hint: 'To have no breaker, say `breaker: false`.',
    help: 'Messages a minute, in and out, beyond which the breaker trips.',
  },
  /**
   * Minutes after which a tripped breaker closes by itself, up to 1,440, at the next check, which is every ten minutes.
   * A runaway that goes on trips it again after some three minutes. 0: the owner has to reset it.
   * @default 20
   */
  resetMinutes: {
    flag: 'breakerResetMinutes',
    ...{ kind: 'count', value: 'MINUTES', range: [0, 1_440], preset: '20' },
    help: 'A tripped breaker resets itself after this time; 0: never.',
  },
} as const satisfies Rows;

/** The options of the prop `alarms`. */
export const ALARMS = {
  /**
   * An address to which each alarm sends mail, once the owner has confirmed the subscription.
   * @default none
   */
  email: {
    flag: 'alarmEmail',
    ...{ kind: 'text', value: 'ADDRESS', rule: [/^\S+@\S+$/, 'is a mail address,'] },
    help: 'Mail address that every alarm notifies.',
  },
  /**
   * Milliseconds; if one frame in a hundred takes longer, for five minutes, an alarm goes off. From 10 to 5,000. $0.10
   * a month.
   * @default no such alarm: the right number depends on the memory of the functions and on the clients
   */
  frameMilliseconds: {
    flag: 'alarmFrameMilliseconds',
    ...{ kind: 'count', value: 'MS', range: [10, 5_000], preset: 'no such alarm' },
    help: 'An alarm when one frame in a hundred takes longer for five minutes. $0.10 a month.',
  },
  /**
   * Messages a minute; if more were dropped in each of five minutes, an alarm goes off. From 0 up. $0.10 a month.
   * @default no such alarm: clients that read slowly or stay away miss messages on an ordinary day
   */
  messagesDropped: {
    flag: 'alarmMessagesDropped',
    ...{ kind: 'count', range: [0, UP], preset: 'no such alarm' },
    help: 'An alarm when more than so many messages are dropped in a minute, for five minutes. $0.10 a month.',
  },
  /**
   * An alarm if no sweep has run for half an hour. $0.10 a month.
   * @default false: there is an alarm for failed sweeps
   */
  sweepMissing: {
    flag: 'alarmSweepMissing',
    ...{ kind: 'switch', preset: 'false' },
    help: 'An alarm when no sweep has run for half an hour. $0.10 a month.',
  },
} as const satisfies Rows;

/** The options of the prop `table`. */
export const TABLE = {
  /**
   * Point-in-time recovery: restores to any second of the last 35 days; $0.20 a GB and month.
   * @default false
   */
  pointInTimeRecovery: {
    ...{ kind: 'switch', preset: 'false', help: 'Enables point-in-time recovery of the tables.' },
  },
  /** Refuses to delete the tables, even when the stack is deleted. @default false */
  deletionProtection: { kind: 'switch', preset: 'false', help: 'Protects the tables from deletion.' },
  /**
   * Write units a second that each table takes from its first second, 4,000 to 40,000. Raising it is paid for once.
   * @default the rate of a new table: 4,000
   */
  warmWriteUnitsPerSecond: { kind: 'count', range: [4_000, 40_000] },
  /**
   * Read units a second beyond which DynamoDB throttles each of the tables (its on-demand maximum). This is the last
   * limit of a bill, and it throttles all clients. $10.80 a day for each 1,000 that are used throughout. 0 lifts it;
   * the account's quota is 40,000.
   * @default 8 for each frame of `throttle.framesPerSecond`, and 4 for each post of `fanOut.maxPostsPerSecond`
   */
  maxReadRequestUnits: {
    ...{ kind: 'count', value: 'UNITS', range: [0, UP], preset: '8 a frame, 4 a post', hint: '0 lifts it.' },
    help: 'Read units a second beyond which each of the two tables throttles all reads. 0: no maximum.',
  },
  /**
   * The maximum of write units. $54.00 a day for each 1,000 that are used throughout. 0 lifts it.
   * @default 4 for each frame of `throttle.framesPerSecond`, and 2 for each post of `fanOut.maxPostsPerSecond`
   */
  maxWriteRequestUnits: {
    ...{ kind: 'count', value: 'UNITS', range: [0, UP], preset: '4 a frame, 2 a post', hint: '0 lifts it.' },
    help: 'Write units a second beyond which each of the two tables throttles all writes. 0: no maximum.',
  },
} as const satisfies Rows;

/** The tables of groups of props, by the name of the prop. */
export const GROUPS = {
  throttle: THROTTLE,
  fanOut: FAN_OUT,
  breaker: BREAKER,
  alarms: ALARMS,
  table: TABLE,
  budget: { dollarsPerMonth: { kind: 'count', range: [1, UP] } },
  domain: {
    domainName: {
      ...{
        kind: 'text',
        rule: [/^(?=.{1,253}$)([a-z0-9-]+\.)+[a-z]{2,}$/, 'is a host name as mqtt.example.com,'],
      },
    },
  },
} as const satisfies Readonly<Record<string, Rows>>;
