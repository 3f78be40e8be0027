import { type GivenStream, readStreams } from '@apus/broker';
import type { IConstruct } from 'constructs';
import { PropsError } from './props-error.ts';

/** All variables of a function have 4 KB together. */
const VARIABLE_BYTES_MAX = 2_048;

/** @throws {PropsError} */
export function checkStreams(scope: IConstruct, streams: readonly GivenStream[]): void {
  try {
    readStreams(streams, 'streams');
  } catch (error) {
    throw new PropsError(scope, (error as Error).message);
  }
  const bytes = Buffer.byteLength(JSON.stringify(streams));
  if (bytes <= VARIABLE_BYTES_MAX) return;
  throw new PropsError(
    scope,
    `streams has ${bytes} bytes as JSON, and a function takes ${VARIABLE_BYTES_MAX}: some thirty streams. A filter with wildcards covers many topics.`,
  );
}
