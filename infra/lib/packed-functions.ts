import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { EntryName } from './entries.ts';

/** Beside the packed module. In the repository there is no such folder: functions are bundled from their sources. */
const FOLDER = fileURLToPath(new URL('./packed-functions/', import.meta.url));

/** In a package that was built with `npm pack`, the function as it was bundled then. */
export function packedFunction(name: EntryName): Pick<NodejsFunctionProps, 'code' | 'handler'> {
  if (!existsSync(FOLDER)) return {};
  return { code: Code.fromAsset(`${FOLDER}${name}`), handler: 'index.handler' };
}
