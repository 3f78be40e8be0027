import { VARIABLES } from '@apus/aws/lambda';
import { type CompiledTopics, compileTopics, type GivenTopics, RE2_FILE, readTopics } from '@apus/topics';
import type { ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { createModuleLayer } from './module-layer.ts';
import { re2Text } from './packed-functions.ts';
import { PropsError } from './props-error.ts';

/** The module of the layer, as functions require it. */
const MODULE = 'apus-payload-checks';
const ENTRY = 'index.cjs';

/** The limit of the text that functions load at each cold start: this much takes about 35 ms of a whole processor. */
const TEXT_BYTES_MAX = 2 * 1024 * 1024;

/** A module generated for the owner's schemas, in a layer, and the variables with which functions find it. */
export interface OwnersModule {
  readonly layer: ILayerVersion;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The compiled schemas of payloads, as a layer.
 * @returns undefined if no topic asks for a check
 */
export function createPayloadChecks(
  scope: Construct,
  topics: GivenTopics | undefined,
): OwnersModule | undefined {
  const compiled = compiledOf(scope, topics);
  if (compiled === undefined) return undefined;
  const { text, hasPatterns } = compiled;
  const layer = createModuleLayer(scope, 'PayloadChecks', {
    description: 'Apus: schemas of payloads',
    module: MODULE,
    main: ENTRY,
    files: { [ENTRY]: text, ...(hasPatterns && { [RE2_FILE]: re2Text() }) },
  });
  return { layer, variables: { [VARIABLES.payloadChecks]: MODULE } };
}

/** @throws {PropsError} */
export function checkTopics(scope: IConstruct, topics: GivenTopics | undefined): void {
  compiledOf(scope, topics);
}

function compiledOf(scope: IConstruct, given: GivenTopics | undefined): CompiledTopics | undefined {
  if (given === undefined) return undefined;
  const compiled = compiledOrRefused(scope, given);
  const bytes = Buffer.byteLength(compiled?.text ?? '');
  if (bytes <= TEXT_BYTES_MAX) return compiled;
  throw new PropsError(
    scope,
    `the schemas of topics have ${bytes} bytes when they are compiled, and may have ${TEXT_BYTES_MAX}: each function loads them when it starts.`,
  );
}

function compiledOrRefused(scope: IConstruct, given: GivenTopics): CompiledTopics | undefined {
  try {
    const { topics } = readTopics(given);
    return topics.some(({ checkPayload }) => checkPayload) ? compileTopics(topics) : undefined;
  } catch (error) {
    throw new PropsError(scope, `topics: ${(error as Error).message}`);
  }
}
