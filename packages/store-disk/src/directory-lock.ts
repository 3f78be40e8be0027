import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { codeOf, DataDirectoryError, reasonOf } from './errors.ts';

const FILE_NAME = 'apus.lock';

/**
 * Keeps every other process out of a data directory. The lock is a listening Unix socket, which the kernel takes back
 * when its process dies, however it dies: a file that nobody answers at is left over. Process ids would not do, since
 * two containers that share a volume may both be process 1.
 */
export class DirectoryLock {
  readonly #server: Server;
  readonly #descriptor: number;

  private constructor(server: Server, descriptor: number) {
    this.#server = server;
    this.#descriptor = descriptor;
  }

  /** @throws {DataDirectoryError} when the directory cannot be made, or another process has it. */
  static async acquire(directory: string): Promise<DirectoryLock> {
    const descriptor = openDirectory(directory);
    const path = socketPath(directory, descriptor);
    try {
      const server = (await listen(path)) ?? (await listenInsteadOfTheDead(directory, path));
      return new DirectoryLock(server, descriptor);
    } catch (error) {
      closeSync(descriptor);
      if (error instanceof DataDirectoryError) throw error;
      throw new DataDirectoryError(`${directory} cannot be locked: ${reasonOf(error)}.`, { cause: error });
    }
  }

  async release(): Promise<void> {
    // Removes the socket's file as well.
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    closeSync(this.#descriptor);
  }
}

function openDirectory(directory: string): number {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return openSync(directory, 'r');
  } catch (error) {
    throw new DataDirectoryError(`${directory} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
}

/** The name of a socket is at most 107 bytes long; through the open directory that of any directory is short. */
function socketPath(directory: string, descriptor: number): string {
  return process.platform === 'linux'
    ? `/proc/self/fd/${descriptor}/${FILE_NAME}`
    : join(directory, FILE_NAME);
}

/** Undefined when there is a socket of this name already. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    // The lock alone does not keep the process alive.
    server.unref();
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen(path, () => resolve(server));
  });
}

async function listenInsteadOfTheDead(directory: string, path: string): Promise<Server> {
  const inUse = `${directory} is in use by another process. Stop that one, or use another directory.`;
  if (await isAnswered(path)) throw new DataDirectoryError(inUse);
  rmSync(path, { force: true });
  const server = await listen(path);
  if (server === undefined) throw new DataDirectoryError(inUse);
  return server;
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    // Anything else is the answer of somebody: one that we may not talk to, or that is too busy.
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')));
  });
}
