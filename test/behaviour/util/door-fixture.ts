import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Door } from '../../support/door.ts';
import {
  type DoorOptions,
  OPTIONS_NEED_OUR_DOOR,
  openDoor,
  runningBrokerUrl,
} from '../../support/start-door.ts';
import { TestClient } from './test-client.ts';

export interface DoorFixture {
  readonly url: string;
  /** Where the HTTP API of our own door is. */
  readonly httpUrl: string;
  /** Connects a client that is cut off after the test. Fields of CONNECT as in `mqtt-packet`. */
  connect(fields?: Record<string, unknown>): Promise<TestClient>;
  /** The same with MQTT 3.1.1. */
  connect311(fields?: Record<string, unknown>): Promise<TestClient>;
  /** Connects to a session that outlives its connection, and continues it if it is there. */
  resume(clientId: string, fields?: Record<string, unknown>): Promise<TestClient>;
  /** The same with MQTT 3.1.1. */
  resume311(clientId: string): Promise<TestClient>;
}

/** Sessions of tests live long enough for any test and then leave a broker that runs on. */
const SESSION_EXPIRY_SECONDS = 60;

/** One door for the tests of a file or of a `describe` block; opened before the first, closed after the last. */
export function useDoor(options: DoorOptions = {}): DoorFixture {
  let door: Door | undefined;
  let clients: TestClient[] = [];

  beforeAll(async () => {
    door = await openDoor(options);
  });
  afterEach(() => {
    for (const client of clients) client.raw.close();
    clients = [];
  });
  afterAll(() => door?.stop());

  const fixture: DoorFixture = {
    get url() {
      if (door === undefined) throw new Error('the door opens in beforeAll');
      return door.url;
    },
    get httpUrl() {
      if (door?.httpUrl === undefined) throw new Error('only our own door has an API');
      return door.httpUrl;
    },
    connect: async (fields = {}) => {
      const client = await TestClient.connect(fixture.url, fields);
      clients.push(client);
      return client;
    },
    connect311: (fields = {}) => fixture.connect({ ...fields, protocolVersion: 4 }),
    resume: (clientId, { properties, ...fields } = {}) =>
      fixture.connect({
        ...fields,
        clientId,
        clean: false,
        properties: { sessionExpiryInterval: SESSION_EXPIRY_SECONDS, ...(properties as object | undefined) },
      }),
    resume311: (clientId) => fixture.connect311({ clientId, clean: false }),
  };
  return fixture;
}

/** Options of `describe` for tests that need a door with options of their own. */
export const NEEDS_OWN_DOOR = { skip: runningBrokerUrl !== undefined } as const;

/** The reason stands in the title: a skipped test says why. */
export const withOptions = (what: string): string =>
  runningBrokerUrl === undefined ? what : `${what} (skipped: ${OPTIONS_NEED_OUR_DOOR})`;
