/**
 * A door under test: where clients reach a broker. The behaviour suite is written once against this interface.
 *
 * `APUS_TEST_URL=ws://127.0.0.1:9001/mqtt npm test` points the suite at a broker that already runs, ours or another's.
 */
export interface Door {
  readonly name: string;
  /** `ws://host:port/path`, subprotocol `mqtt`. */
  readonly url: string;
  /** Where the HTTP API is; undefined for a broker that is not ours. */
  readonly httpUrl?: string;
  stop(): Promise<void>;
}

/** The doors of our own that the behaviour suite runs on. */
export type DoorName = 'node' | 'gateway';

/** `APUS_TEST_DOOR=gateway` runs the suite in text frames at the gateway door; otherwise it is the node door. */
export const doorUnderTest: DoorName = process.env.APUS_TEST_DOOR === 'gateway' ? 'gateway' : 'node';

/** `APUS_TEST_DOOR=cluster` runs the suite at the node door of three processes, over which the clients of a test are spread. */
export const isClusterUnderTest: boolean = process.env.APUS_TEST_DOOR === 'cluster';

/**
 * How long the will of a lost connection waits at least: at the gateway door its DISCONNECT may still be committing. Our
 * own door is started with less than its five seconds, which `packages/cloud/test/timers/wills.test.ts` holds it to.
 */
export const LOSS_GRACE_SECONDS = doorUnderTest !== 'gateway' ? 0 : process.env.APUS_TEST_URL ? 5 : 1;
