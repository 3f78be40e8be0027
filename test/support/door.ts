/**
 * A door under test: the addresses at which clients reach a broker. The behaviour suite is written once against this
 * interface. `APUS_TEST_URL=ws://127.0.0.1:9001/mqtt npm test` points the suite at a running broker, Apus or another
 * one; with `APUS_TEST_DOOR=gateway` that is a gateway door.
 */
export interface Door {
  readonly name: string;
  /** `ws://host:port/path`, subprotocol `mqtt`; `mqtt://host:port` over TCP. */
  readonly url: string;
  /** The URL of the HTTP API; undefined for another broker than Apus. */
  readonly httpUrl?: string;
  stop(): Promise<void>;
}

/** The doors of Apus on which the behaviour suite runs. */
export type DoorName = 'node' | 'gateway';

/**
 * The place at which the behaviour suite runs: a door, the node's over TCP or in HTTP requests, the node doors of three processes
 * over which a test's clients are spread, an object of Cloudflare's runtime, or one that is evicted at random.
 */
export type Entrance = DoorName | 'tcp' | 'http' | 'cluster' | 'object' | 'evicted';

/**
 * The door at which the tests run that are now collected or executed: `each-door.ts` changes it. In all other files it is the
 * node door.
 */
export let doorUnderTest: DoorName = 'node';

/** Whether these tests run at the node doors of a cluster. */
export let isClusterUnderTest = false;

/** Whether the clients of these tests use TCP in the place of WebSockets. */
export let isTcpUnderTest = false;

/** Whether they use HTTP requests in the place of WebSockets, as behind a proxy that lets none through. */
export let isHttpUnderTest = false;

/** Whether the door is a Durable Object in `workerd`. */
export let isObjectUnderTest = false;

/** Whether the object loses its memory at random meanwhile. */
export let isEvictedUnderTest = false;

/**
 * The shortest wait of a lost connection's will: at the gateway door the handler of its DISCONNECT may still be
 * running. The tests start that door with less than its five seconds, which `packages/aws/test/timers/wills.test.ts`
 * checks.
 */
export let LOSS_GRACE_SECONDS = 0;

/** The tests that follow run there. */
export function goTo(entrance: Entrance): void {
  doorUnderTest = entrance === 'gateway' ? 'gateway' : 'node';
  isClusterUnderTest = entrance === 'cluster';
  isTcpUnderTest = entrance === 'tcp';
  isHttpUnderTest = entrance === 'http';
  isEvictedUnderTest = entrance === 'evicted';
  isObjectUnderTest = entrance === 'object' || isEvictedUnderTest;
  LOSS_GRACE_SECONDS = doorUnderTest !== 'gateway' ? 0 : process.env.APUS_TEST_URL ? 5 : 1;
}
