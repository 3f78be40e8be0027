import { Token } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { PropsError } from './props-error.ts';

/** Lambda's limit for the names and values of a function's variables, in bytes. */
const ENVIRONMENT_BYTES_MAX = 4_096;
/** The least length of a name or URL that AWS assigns at deployment: what is refused here can never be deployed. */
const UNKNOWN_BYTES = 40;

/**
 * @throws {PropsError} if a function's variables exceed Lambda's limit, which would fail in the middle of a deployment
 */
export function checkEnvironment(
  scope: IConstruct,
  id: string,
  environment: Readonly<Record<string, string>>,
) {
  const bytesOf = ([name, value]: readonly [string, string]) =>
    name.length + (Token.isUnresolved(value) ? UNKNOWN_BYTES : Buffer.byteLength(value));
  const bytes = Object.entries(environment).reduce((sum, each) => sum + bytesOf(each), 0);
  if (bytes <= ENVIRONMENT_BYTES_MAX) return;
  throw new PropsError(
    scope,
    `the variables of the function ${id} have ${bytes} bytes, and Lambda takes ${ENVIRONMENT_BYTES_MAX}: streams, rules, quotas and the mappings of Kafka share them.`,
  );
}
