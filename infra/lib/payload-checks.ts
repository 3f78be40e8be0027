import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VARIABLES } from '@apus/cloud/lambda';
import { type CompiledTopics, compileTopics, type GivenTopics, RE2_FILE, readTopics } from '@apus/topics';
import { Code, type ILayerVersion, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { re2Text } from './packed-functions.ts';
import { PropsError } from './props-error.ts';

/** The module of the layer, as functions require it. */
const MODULE = 'apus-payload-checks';
/** Lambda has this folder of a layer in NODE_PATH. */
const MODULES_FOLDER = 'nodejs/node_modules';
const ENTRY = 'index.cjs';

/** Functions load the text at each cold start: this much takes some 35 ms of a whole processor. */
const TEXT_BYTES_MAX = 2 * 1024 * 1024;

export interface PayloadChecks {
  readonly layer: ILayerVersion;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The compiled schemas of payloads, as a layer. It is apart from the code of the functions, which a package brings with
 * it; and a change of a schema changes the layer alone.
 *
 * @returns undefined where no topic asks for a check
 */
export function createPayloadChecks(
  scope: Construct,
  topics: GivenTopics | undefined,
): PayloadChecks | undefined {
  const compiled = compiledOf(scope, topics);
  if (compiled === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'apus-payload-checks-'));
  try {
    writeModule(join(folder, MODULES_FOLDER, MODULE), compiled);
    const layer = new LayerVersion(scope, 'PayloadChecks', {
      code: Code.fromAsset(folder),
      description: 'Apus: schemas of payloads',
      compatibleRuntimes: [Runtime.NODEJS_24_X],
    });
    return { layer, variables: { [VARIABLES.payloadChecks]: MODULE } };
  } finally {
    // The CDK has copied it.
    rmSync(folder, { recursive: true });
  }
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

function writeModule(folder: string, { text, hasPatterns }: CompiledTopics): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: MODULE, main: ENTRY }));
  writeFileSync(join(folder, ENTRY), text);
  if (hasPatterns) writeFileSync(join(folder, RE2_FILE), re2Text());
}
