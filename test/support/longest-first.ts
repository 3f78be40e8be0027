import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the longest first: half a minute and more, and those that are the longest of their
 * project. Vitest itself knows how long a file takes only where it has run before, which it has not in a fresh clone.
 */
export const LONGEST: readonly string[] = [
  'test/bridges/kafka.test.ts',
  'test/cluster/kill.test.ts',
  'test/cluster/workers.test.ts',
  'test/browser/web-client-connections.test.ts',
  'test/browser/web-client-messages.test.ts',
  'test/browser/web-client-reload.test.ts',
  'test/cloud/move.test.ts',
  'loadtest/test/cli.test.ts',
  'test/browser/web-client-full.test.ts',
  'test/cluster/kill-streams.test.ts',
  'test/cloud/tenants.test.ts',
  'test/browser/web-client-layout.test.ts',
  'test/browser/web-client-admin.test.ts',
  'test/cloud/runaway.test.ts',
  'test/attacks/memory-attacks.test.ts',
  'packages/store-dynamodb/test/queue/contract-queues.test.ts',
  'test/behaviour/presence.test.ts',
  'test/behaviour/streams-cut.test.ts',
  'test/faults/faults.test.ts',
];

/** Begins with the files that take longest, so that no worker begins one of them at the end, and goes on as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const projects = [...new Set(usual.map(({ project }) => project.name))];
    const rankOf = ({ project, moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
      // A worker serves one project: the files of each stay together.
      return projects.indexOf(project.name) * (LONGEST.length + 1) + (place < 0 ? LONGEST.length : place);
    };
    return usual.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
