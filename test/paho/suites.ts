import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allow } from '../behaviour/util/permissions.ts';
import { type Entrance, goTo } from '../support/door.ts';
import { RawClient } from '../support/raw-client.ts';
import type { Skip } from '../support/skips.ts';
import { openDoor } from '../support/start-door.ts';
import { relayTo } from './relay.ts';
import { runSuite } from './run-suite.ts';

/** What the suites ask of a broker's configuration. */
const OPTIONS = {
  authorizer: allow({ subscribe: (topicFilter) => topicFilter !== 'test/nosubscribe' }),
  serverKeepAliveSecondsMax: 60,
};

/** A suite waits for a minute and a half of its own; on a busy machine it waits longer, and again. */
const SUITE_MS_MAX = 600_000;

/** Takes no answer but 0x80. Apus says 0x87 (Not authorized), which MQTT 5 has for it. */
const NOT_PASSED = ['test_subscribe_failure'];

/** paho's suites for both versions of MQTT beside one another, each at a door of its own: most of their time they wait. */
export function describePaho(what: string, entrance: Entrance, needs: Skip): void {
  describe(`paho's interoperability suites at ${what}`, needs, () => {
    const ends: (() => unknown)[] = [];
    const ports: number[] = [];

    beforeAll(async () => {
      for (const _ of ['3.1.1', '5']) ports.push(await open());
    });
    afterAll(async () => {
      for (const end of ends) await end();
    });

    /** The suites wait half a second for an answer: the door has answered once before. */
    async function open(): Promise<number> {
      goTo(entrance);
      const door = await openDoor(OPTIONS).finally(() => goTo('node'));
      const { client } = await RawClient.connect(door.url);
      client.close();
      ends.push(() => door.stop());
      if (door.url.startsWith('mqtt:')) return Number(new URL(door.url).port);
      const relay = await relayTo(door.url);
      ends.unshift(() => relay.stop());
      return relay.port;
    }

    it.concurrent(
      'pass for MQTT 3.1.1',
      async () => {
        const { passed, failed, output } = await runSuite('client_test', ports[0] ?? 0);
        expect(failed, output).toEqual([]);
        expect(passed).toHaveLength(10);
      },
      SUITE_MS_MAX,
    );

    it.concurrent(
      'pass for MQTT 5, but for the reason code of a refused subscription',
      async () => {
        const { passed, failed, output } = await runSuite('client_test5', ports[1] ?? 0);
        expect(failed, output).toEqual(NOT_PASSED);
        expect(passed).toHaveLength(26);
      },
      SUITE_MS_MAX,
    );
  });
}
