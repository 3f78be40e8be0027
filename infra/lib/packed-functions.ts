import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { EntryName } from './entries.ts';

/** A folder beside the packed module. The repository has no such folder: functions are bundled from their sources. */
const FOLDER = fileURLToPath(new URL('./packed-functions/', import.meta.url));

/** RE2 as a module of CommonJS, beside the packed functions. */
export const PACKED_RE2 = 're2js.cjs';

/** In a package that was built with `npm pack`: the function that was bundled then. */
export function packedFunction(name: EntryName): Pick<NodejsFunctionProps, 'code' | 'handler'> {
  if (!existsSync(FOLDER)) return {};
  return { code: Code.fromAsset(`${FOLDER}${name}`), handler: 'index.handler' };
}

/** RE2 for compiled schemas. A packed module has it beside its functions. */
export function re2Text(): string {
  const path = existsSync(FOLDER)
    ? `${FOLDER}${PACKED_RE2}`
    : createRequire(import.meta.url).resolve('re2js');
  return readFileSync(path, 'utf8');
}
