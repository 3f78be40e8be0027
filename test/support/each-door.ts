import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, TestRunner } from 'vitest';
import { type Entrance, goTo } from './door.ts';
import { engineOrSkip } from './engine-or-skip.ts';
import { needs } from './skips.ts';

const SUITE = fileURLToPath(new URL('../behaviour/', import.meta.url));

const ENTRANCES = ['node', 'gateway', 'tcp', 'http', 'cluster', 'object', 'evicted'] as const;

const TITLES: Readonly<Record<Entrance, string>> = {
  node: 'at the node door',
  gateway: 'at the gateway door',
  tcp: 'over TCP',
  http: 'in HTTP requests',
  cluster: 'over three processes of a cluster',
  object: 'in an object',
  evicted: 'in an object that is evicted at random',
};

/**
 * Files about handshakes, close codes and programs over WebSockets; about HTTP at the wrong port, which TCP answers in HTTP
 * (`malformed-connect`); and about the broker behind any connection.
 */
const NOT_OVER_TCP = [
  ...['attacks', 'clients-aws', 'holding-quotas', 'host-header', 'identity', 'streams-cut', 'streams-resume'],
  ...['ways', 'web-socket', 'clock-steps', 'dearest-packets', 'guessing', 'hook', 'hook-fairness'],
  ...['malformed-connect', 'places'],
];

/** Files about sessions, QoS, streams and the end of a connection: the others are about the broker behind any connection. */
const IN_HTTP_REQUESTS = [
  ...['bans', 'clients-mqttjs', 'disconnect', 'flow-control', 'ordering', 'packet-size', 'qos1', 'qos2'],
  ...['session', 'streams', 'take-over', 'will'],
];

/** Its doors would share one watcher, as processes of a cluster do not. */
const NOT_IN_A_CLUSTER = ['users-file'];

/** Files of which an object passes every test, about each part that it has. The door is not complete. */
const IN_AN_OBJECT = [
  ...[
    'bans',
    'clients-mqttjs',
    'connect',
    'filters',
    'identity',
    'malformed-subscribe',
    'ordering',
    'qos1',
    'qos2',
    'queue',
    'retained',
    'session',
    'shared',
  ],
  ...['streams', 'subscribe', 'take-over', 'will'],
];

/**
 * Files about all that the processes of a cluster share. The other files are about one connection: over a cluster they
 * run in CI.
 */
const SHARED_IN_A_CLUSTER = [
  ...[
    'bans',
    'client-events',
    'clients-mqttjs',
    'conflation',
    'dropped',
    'filters',
    'flow-control',
    'holding-quotas',
  ],
  ...[
    'ordering',
    'overlapping',
    'presence',
    'publish',
    'qos1',
    'qos2',
    'queue',
    'renewal',
    'retained',
    'session',
  ],
  ...['shared', 'streams', 'streams-cut', 'streams-resume', 'take-over', 'tenants', 'ways', 'will'],
];

/**
 * Runs each file of the behaviour suite at one door after another, in one worker. A project for each door would start
 * workers of its own, and the tests of one door, which wait most of their time, would run beside one another only.
 */
export default class EachDoor extends TestRunner {
  override async importFile(path: string, source: 'collect' | 'setup'): Promise<void> {
    goTo('node');
    if (source === 'setup' || !path.startsWith(SUITE)) return void (await super.importFile(path, source));
    for (const entrance of entrancesOf(relative(SUITE, path).replace('.test.ts', ''))) {
      const needed = entrance === 'cluster' ? needs('engine', engineOrSkip()) : {};
      describe(TITLES[entrance], needed, async () => {
        goTo(entrance);
        beforeAll(() => goTo(entrance));
        afterAll(() => goTo('node'));
        // Without its own address, the file would be evaluated for the first door only.
        await super.importFile(`${path}?door=${entrance}`, source);
      });
    }
  }
}

/** Where the file runs: at each of them, or where `APUS_TEST_DOOR` says. */
function entrancesOf(name: string): readonly Entrance[] {
  const asked = process.env.APUS_TEST_DOOR ?? (process.env.APUS_TEST_URL && 'node');
  if (asked) return [entranceOf(asked)];
  return ENTRANCES.filter((entrance) => {
    if (entrance === 'cluster') return runsInACluster(name);
    if (entrance === 'object' || entrance === 'evicted')
      return process.env.CI !== undefined && IN_AN_OBJECT.includes(name);
    if (entrance === 'tcp') return process.env.CI !== undefined && !NOT_OVER_TCP.includes(name);
    return entrance !== 'http' || (process.env.CI !== undefined && IN_HTTP_REQUESTS.includes(name));
  });
}

function entranceOf(asked: string): Entrance {
  const entrance = ENTRANCES.find((each) => each === asked);
  if (entrance === undefined)
    throw new Error(`APUS_TEST_DOOR is one of ${ENTRANCES.join(', ')}, and not ${asked}`);
  return entrance;
}

function runsInACluster(name: string): boolean {
  if (NOT_IN_A_CLUSTER.includes(name)) return false;
  return process.env.CI !== undefined || SHARED_IN_A_CLUSTER.includes(name);
}
