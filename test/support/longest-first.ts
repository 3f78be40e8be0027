import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files, the slowest first: half a minute and more, and the slowest of their project. Vitest itself only
 * knows how long a file takes if it has run before, which it has not in a fresh clone.
 */
export const LONGEST: readonly string[] = [
  'test/bridges/kafka.test.ts',
  'test/cloud/tenants.test.ts',
  'test/cluster/kill.test.ts',
  'test/cluster/workers.test.ts',
  'test/browser/web-client-connections.test.ts',
  'test/browser/web-client-messages.test.ts',
  'test/browser/web-client-reload.test.ts',
  'test/cluster/quotas.test.ts',
  'test/bridges/kill.test.ts',
  'packages/store-dynamodb/test/queue/model.test.ts',
  'loadtest/test/cli.test.ts',
  'test/cluster/bridges.test.ts',
  'test/browser/web-client-layout.test.ts',
  'test/cluster/kill-streams.test.ts',
  'test/cloud/move.test.ts',
  'test/cloud/streams-resume.test.ts',
  'test/cloud/resume-programs.test.ts',
  'test/browser/web-client-full.test.ts',
  'test/browser/web-client-admin.test.ts',
  'test/cloud/runaway.test.ts',
  'test/attacks/memory-attacks.test.ts',
  'test/costs/bench/operations.test.ts',
  'test/behaviour/presence.test.ts',
  'test/behaviour/streams-cut.test.ts',
  'test/faults/faults.test.ts',
  'test/paho/node.test.ts',
  'test/paho/object.test.ts',
];

/**
 * Files, and folders with all of their files, that leave the processor idle: they wait for programs, timers and
 * networks.
 */
export const WAITING: readonly string[] = [
  'test/bridges/',
  'test/cluster/',
  'test/behaviour/',
  'test/paho/',
  'test/cloud/tenants.test.ts',
  'packages/cli/test/probe.test.ts',
];

/** About how long a file of the folder takes: other files take a second or two. */
const SECONDS: readonly (readonly [folder: string, seconds: number])[] = [
  ['test/bridges/', 15],
  ['test/cluster/', 15],
  ['test/browser/', 15],
  // At each door.
  ['test/behaviour/', 5],
];
const LONGEST_SECONDS = 30;
const USUAL_SECONDS = 1.5;

/**
 * Begins with the slowest files, so that no worker begins one of them at the end. Files that wait begin among files
 * that compute, in proportion to their times, so that the processors are busy during the whole run.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const projects = new Set(usual.map(({ project }) => project.name));
    // A worker serves one project: the files of each project stay together.
    return [...projects].flatMap((name) => mixed(usual.filter(({ project }) => project.name === name)));
  }
}

function mixed(files: readonly TestSpecification[]): TestSpecification[] {
  const waits = (file: TestSpecification) => WAITING.some((path) => file.moduleId.includes(`/${path}`));
  return [...placed(files.filter(waits)), ...placed(files.filter((file) => !waits(file)))]
    .toSorted((one, other) => one.place - other.place)
    .map(({ file }) => file);
}

/** The longest first, each with the share of the time of all at which half of it is over. */
function placed(files: readonly TestSpecification[]): { file: TestSpecification; place: number }[] {
  const longestFirst = files.toSorted((one, other) => rankOf(one) - rankOf(other));
  const total = files.reduce((sum, file) => sum + secondsOf(file), 0);
  let begun = 0;
  return longestFirst.map((file) => {
    const place = (begun + secondsOf(file) / 2) / total;
    begun += secondsOf(file);
    return { file, place };
  });
}

/** Where the file is among the longest; those of a folder whose files are long follow, then all others as Vitest has them. */
function rankOf(file: TestSpecification): number {
  const place = LONGEST.findIndex((path) => file.moduleId.endsWith(`/${path}`));
  if (place >= 0) return place;
  return LONGEST.length + (secondsOf(file) > USUAL_SECONDS ? 0 : 1);
}

function secondsOf({ moduleId }: TestSpecification): number {
  if (LONGEST.some((path) => moduleId.endsWith(`/${path}`))) return LONGEST_SECONDS;
  return SECONDS.find(([folder]) => moduleId.includes(`/${folder}`))?.[1] ?? USUAL_SECONDS;
}
