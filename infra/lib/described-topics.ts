import { VARIABLES } from '@apus/aws/lambda';
import { type GivenTopics, readTopics } from '@apus/topics';
import type { Construct, IConstruct } from 'constructs';
import { createModuleLayer } from './module-layer.ts';
import type { OwnersModule } from './payload-checks.ts';
import { PropsError } from './props-error.ts';

const MODULE = 'apus-described-topics';

/** The document for developers is an answer of Lambda, which allows 6 MB. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The topics that the owner describes, for the function that serves their document.
 * @returns undefined without `topics`
 */
export function createDescribedTopics(
  scope: Construct,
  topics: GivenTopics | undefined,
): OwnersModule | undefined {
  if (topics === undefined) return undefined;
  const layer = createModuleLayer(scope, 'DescribedTopics', {
    description: 'Apus: topics for developers',
    module: MODULE,
    main: 'topics.json',
    files: { 'topics.json': textOf(topics) },
  });
  return { layer, variables: { [VARIABLES.describedTopics]: MODULE } };
}

/** @throws {PropsError} */
export function checkDescribedTopics(scope: IConstruct, topics: GivenTopics | undefined): void {
  if (topics === undefined) return;
  const bytes = Buffer.byteLength(textOf(topics));
  if (bytes <= TEXT_BYTES_MAX) return;
  throw new PropsError(
    scope,
    `the descriptions of topics have ${bytes} bytes with their references resolved, and may have ${TEXT_BYTES_MAX} where there is httpApi: an answer of Lambda has no more.`,
  );
}

function textOf(topics: GivenTopics): string {
  return JSON.stringify(readTopics(topics));
}
