import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@apus/broker';
import { DirectoryLock } from './directory-lock.ts';
import { DataDirectoryError } from './errors.ts';
import { keepPrivate } from './private-file.ts';

const DATA_FILE = 'apus.mdb';
const ENGINE_DIRECTORY = 'engine';

/** A data directory whose content is an engine's. */
export interface EngineDirectory {
  /** Where the engine keeps its files. */
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Locks a data directory for an engine that several processes share. A broker of one process and an engine keep their
 * data in different files: one does not read the other's, and would seem to have lost it.
 *
 * @throws {DataDirectoryError} when the directory is in use, cannot be written, or holds the data of a single process
 */
export async function openEngineDirectory(directory: string): Promise<EngineDirectory> {
  const lock = await DirectoryLock.acquire(directory);
  try {
    if (existsSync(join(directory, DATA_FILE)))
      throw new DataDirectoryError(
        `${directory} holds the data of a broker of one process, which several processes do not read. Use another directory.`,
      );
    const path = join(directory, ENGINE_DIRECTORY);
    makeDirectory(path);
    return { path, release: () => lock.release() };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** @throws {DataDirectoryError} when an engine keeps its files in it */
export function checkNoEngine(directory: string): void {
  if (existsSync(join(directory, ENGINE_DIRECTORY)))
    throw new DataDirectoryError(
      `${directory} holds the data of several processes (\`apus serve --workers\`), which a single one does not read. Use another directory.`,
    );
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    keepPrivate(path);
  } catch (error) {
    throw new DataDirectoryError(`${path} cannot be made: ${reasonOf(error)}.`, { cause: error });
  }
}
