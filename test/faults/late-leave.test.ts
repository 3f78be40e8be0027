import type { DynamoDbFaults, Faults } from '@apus/emulated-aws';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { HandStage, isOf } from './hand-stage.ts';
import { warmUp } from './history.ts';

/** A busy machine may need longer; the histories themselves take no real time. */
const TIMEOUT_MS = 120_000;
/** Within what a handler may live. */
const HELD_MS = 2_000;
/** By then watchers are told again. */
const TICK_MS = 30_000;
/** By then the sweep has found what a dead process has left. */
const SWEEP_MS = 11 * 60_000;
/** A new shape's SUBACK waits for the leases of all publishers. */
const LEASES_MS = 10_000;

let stage: HandStage | undefined;

beforeAll(warmUp, TIMEOUT_MS);
afterEach(async () => await stage?.end());

/**
 *     handler of DISCONNECT              client
 *     the member is gone
 *                                        is back and publishes: the member is there; the watcher is told so
 *     the watcher is told that it is gone
 *     dies before it looks again
 */
it.each([
  ['', { sessionExpirySeconds: 0 }],
  [' in its session', { sessionExpirySeconds: 3_600 }],
])(
  'a member that is back%s is seen, where a process tells its leave late and dies then',
  async (_, session) => {
    let leaver: string | undefined;
    let hasBeenHeld = false;
    let isDead = false;
    const store: DynamoDbFaults = {
      latencyMs: ({ operation, key, environmentId }) => {
        if (leaver === undefined && operation === 'DeleteItem' && isOf('O', key)) leaver = environmentId;
        else if (leaver !== undefined && environmentId === leaver && !hasBeenHeld) {
          hasBeenHeld = true;
          return HELD_MS;
        }
        return 0;
      },
    };
    const gateway: Faults = {
      killAfterCall: ({ environmentId, method }) => {
        if (isDead || leaver === undefined || environmentId !== leaver || method !== 'POST') return false;
        isDead = true;
        return true;
      },
    };
    stage = new HandStage();
    await stage.begin({ gateway, store, hasRooms: true });
    const { time, received } = stage;
    const watcher = await stage.client('watcher');
    await time.during(watcher.subscribe('$presence/hall/+', 1), LEASES_MS);
    const enter = async () => {
      const member = await (stage as HandStage).client('ann', session);
      member.publish('$presence/hall/ann', 'here', { qos: 1 });
      return member;
    };
    const before = await enter();
    await time.advance(LEASES_MS);
    before.end('disconnect');
    await time.advance(100);
    await enter();
    await time.advance(HELD_MS * 5);
    expect(isDead).toBe(true);
    await time.advance(TICK_MS);
    expect(received.at(-1)).toBe('watcher $presence/hall/ann here');
  },
  TIMEOUT_MS,
);

/**
 *     handler of DISCONNECT              another client
 *     the member is gone
 *                                        publishes: the member is there; the watcher is told so
 *     the watcher is told that it is gone
 *     looks: it is there
 *     dies before it tells so
 */
it(
  'a member that another client makes present is seen, where a process tells its leave late and dies when it has looked',
  async () => {
    let leaver: string | undefined;
    let hasBeenHeld = false;
    let posts = 0;
    const store: DynamoDbFaults = {
      latencyMs: ({ operation, key, environmentId }) => {
        if (leaver === undefined && operation === 'DeleteItem' && isOf('O', key)) leaver = environmentId;
        else if (leaver !== undefined && environmentId === leaver && !hasBeenHeld) {
          hasBeenHeld = true;
          return HELD_MS;
        }
        return 0;
      },
    };
    const gateway: Faults = {
      killBeforeCall: ({ environmentId, method }) => {
        if (leaver === undefined || environmentId !== leaver || method !== 'POST') return false;
        posts += 1;
        return posts === 2;
      },
    };
    stage = new HandStage();
    await stage.begin({ gateway, store, hasRooms: true });
    const { time, received } = stage;
    const watcher = await stage.client('watcher');
    await time.during(watcher.subscribe('$presence/hall/+', 1), LEASES_MS);
    const phone = await stage.client('phone');
    phone.publish('$presence/hall/ann', 'phone', { qos: 1 });
    await time.advance(LEASES_MS);
    phone.end('disconnect');
    await time.advance(100);
    const tab = await stage.client('tab');
    tab.publish('$presence/hall/ann', 'tab', { qos: 1 });
    await time.advance(HELD_MS * 5);
    expect(posts).toBeGreaterThanOrEqual(2);
    await time.advance(SWEEP_MS);
    expect(received.at(-1)).toBe('watcher $presence/hall/ann tab');
  },
  TIMEOUT_MS,
);

/**
 *     handler of a leave                 client                         watcher, with a session that is kept
 *     the member is gone                                                is away
 *     dies: no watcher has been told
 *                                        sends it again: the member is gone already, and its message with it
 *                                                                       is back
 */
it(
  'a watcher that was away is told of a leave whose first handler has died',
  async () => {
    let leaver: string | undefined;
    let isDead = false;
    const store: DynamoDbFaults = {
      latencyMs: ({ operation, key, environmentId }) => {
        if (operation === 'DeleteItem' && isOf('O', key)) leaver ??= environmentId;
        return 0;
      },
    };
    const gateway: Faults = {
      killAtCheckpoint: ({ environmentId, name }) => {
        const dies = !isDead && environmentId === leaver && name === 'dynamodb:BatchGetItem:before';
        isDead ||= dies;
        return dies;
      },
    };
    stage = new HandStage();
    await stage.begin({ gateway, store, hasRooms: true });
    const { time, received } = stage;
    const kept = { sessionExpirySeconds: 3_600 };
    const watcher = await stage.client('watcher', kept);
    await time.during(watcher.subscribe('$presence/hall/+', 1), LEASES_MS);
    const member = await stage.client('ann', { ...kept, isSingle: false });
    member.publish('$presence/hall/ann', 'here', { qos: 1 });
    await time.advance(LEASES_MS);
    watcher.end('disconnect');
    await time.advance(1_000);
    member.publish('$presence/hall/ann', '', { qos: 1 });
    await time.advance(TICK_MS);
    expect(isDead).toBe(true);
    await stage.client('watcher', kept);
    expect(received).toEqual(['watcher $presence/hall/ann here', 'watcher $presence/hall/ann ']);
  },
  TIMEOUT_MS,
);
