/**
 * A door under test: the addresses at which clients reach a broker. The behaviour suite is written once against this
 * interface. `APUS_TEST_URL=ws://127.0.0.1:9001/mqtt npm test` points the suite at a running broker, Apus or another
 * one.
 */
export interface Door {
  readonly name: string;
  /** `ws://host:port/path`, subprotocol `mqtt`. */
  readonly url: string;
  /** The URL of the HTTP API; undefined for another broker than Apus. */
  readonly httpUrl?: string;
  stop(): Promise<void>;
}

/** The doors of Apus on which the behaviour suite runs. */
export type DoorName = 'node' | 'gateway';

/** `APUS_TEST_DOOR=gateway` runs the suite in text frames at the gateway door; otherwise it is the node door. */
export const doorUnderTest: DoorName = process.env.APUS_TEST_DOOR === 'gateway' ? 'gateway' : 'node';

/** `APUS_TEST_DOOR=cluster` runs the suite at the node door of three processes, over which the clients of a test are spread. */
export const isClusterUnderTest: boolean = process.env.APUS_TEST_DOOR === 'cluster';

/**
 * The shortest wait of a lost connection's will: at the gateway door the handler of its DISCONNECT may still be
 * running. The tests start that door with less than its five seconds, which `packages/cloud/test/timers/wills.test.ts`
 * checks.
 */
export const LOSS_GRACE_SECONDS = doorUnderTest !== 'gateway' ? 0 : process.env.APUS_TEST_URL ? 5 : 1;
