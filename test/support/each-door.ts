import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, TestRunner } from 'vitest';
import { type Entrance, goTo } from './door.ts';

const SUITE = fileURLToPath(new URL('../behaviour/', import.meta.url));

const ENTRANCES = ['node', 'gateway', 'cluster'] as const;

const TITLES: Readonly<Record<Entrance, string>> = {
  node: 'at the node door',
  gateway: 'at the gateway door',
  cluster: 'over three processes of a cluster',
};

/** Its doors would share one watcher, as processes of a cluster do not. */
const NOT_IN_A_CLUSTER = ['users-file'];

/**
 * Files about all that the processes of a cluster share. The other files are about one connection: over a cluster they
 * run in CI.
 */
const SHARED_IN_A_CLUSTER = [
  ...['bans', 'client-events', 'clients-mqttjs', 'conflation', 'dropped', 'flow-control', 'holding-quotas'],
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
  ...['shared', 'streams', 'streams-cut', 'streams-resume', 'take-over', 'tenants', 'will'],
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
      describe(TITLES[entrance], async () => {
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
  return ENTRANCES.filter((entrance) => entrance !== 'cluster' || runsInACluster(name));
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
