import type { DynamoDbFaults, Faults } from '@apus/emulated-aws';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { HandStage, isOf } from './hand-stage.ts';
import { warmUp } from './history.ts';

/** A busy machine may need longer; the histories themselves take no real time. */
const TIMEOUT_MS = 120_000;
/** Within what a handler may live. */
const HELD_MS = 4_000;
/** A new shape's SUBACK waits for the leases of all publishers. */
const LEASES_MS = 10_000;

let stage: HandStage | undefined;

beforeAll(warmUp, TIMEOUT_MS);
afterEach(async () => await stage?.end());

/** The first write of a session's list of subscriptions after `isSlow` is set takes its time. */
class SlowList {
  isSlow = false;
  held = 0;
  /** The environment of the handler that was held. */
  #environmentId: string | undefined;
  #hasStored = false;

  readonly store: DynamoDbFaults = {
    latencyMs: ({ operation, key, environmentId }) => {
      if (operation !== 'UpdateItem') return 0;
      if (isOf('F', key) && environmentId === this.#environmentId) this.#hasStored = true;
      if (!this.isSlow || !isOf('I', key) || key?.s?.S !== 'list') return 0;
      this.isSlow = false;
      this.held += 1;
      this.#environmentId = environmentId;
      return HELD_MS;
    },
  };

  /** The handler that was held dies when it has stored the subscription, before it looks at anything. */
  readonly dies: Faults = {
    killAtCheckpoint: ({ environmentId, name }) =>
      this.#hasStored && environmentId === this.#environmentId && name !== 'dynamodb:UpdateItem:after',
  };
}

/**
 *     handler of SUBSCRIBE               client
 *     begins, and is slow
 *                                        is back on another connection, and subscribes there
 *     comes to store its subscription, and perhaps dies then
 */
it.each([
  ['', false],
  [' by a handler that dies then', true],
])(
  'a reader that is back hears the stream, where the SUBSCRIBE of its last connection is stored after that of this one%s',
  async (_, dies) => {
    const list = new SlowList();
    stage = new HandStage();
    await stage.begin({
      store: list.store,
      ...(dies && { gateway: list.dies }),
      streams: [{ name: 'feed', topicFilter: 'feed/#', messagesMax: 100 }],
    });
    const { time, received } = stage;
    const session = { sessionExpirySeconds: 3_600 };
    const first = await stage.client('ann', session);
    // The shape of the filter is known from now on, so a later SUBACK waits for nothing.
    await time.during(first.subscribe('$stream/feed', 1), LEASES_MS);
    list.isSlow = true;
    void first.subscribe('$stream/feed', 1);
    await time.advance(50);
    expect(list.held).toBe(1);
    const back = await stage.client('ann', { ...session, isSingle: false });
    const reads = () => back.subscribe('$stream/feed', 1);
    back.mqtt.on('connect', () => void reads());
    expect(await time.during(reads(), LEASES_MS)).toBeLessThan(0x80);
    await time.advance(HELD_MS * 2);
    const publisher = await stage.client('publisher');
    publisher.publish('feed/a', 'news', { qos: 1 });
    await time.advance(1_000);
    expect(received).toContain('ann feed/a news');
  },
  TIMEOUT_MS,
);
