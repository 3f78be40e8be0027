import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { reasonOf } from '@apus/broker';
import { codeOf, DataDirectoryError } from './errors.ts';
import { keepPrivate } from './private-file.ts';

const FILE_NAME = 'apus.lock';

/** Bytes of a random name, which is in use for a moment only. */
const PRIVATE_NAME_BYTES = 4;

/**
 * Keeps every other process out of a data directory. The lock is a listening Unix socket: the kernel closes it when
 * its process dies, and only a file without a listener is left. Process ids would not do, since two containers that
 * share a volume may both be process 1. This rules out LMDB's own table of readers, which uses process ids; besides,
 * LMDB lets several processes open one file. Node.js has no `flock`, and lock files with a time in them take a busy
 * process for a dead one.
 *
 * A socket first listens under a private name, and is then linked to the name of the lock: at most one link succeeds,
 * and a socket with that name that does not answer is dead, not about to listen.
 */
export class DirectoryLock {
  readonly #server: Server;
  readonly #path: string;
  readonly #inode: bigint | undefined;
  readonly #descriptor: number;

  private constructor(server: Server, path: string, descriptor: number) {
    this.#server = server;
    this.#path = path;
    this.#inode = inodeOf(path);
    this.#descriptor = descriptor;
  }

  /** @throws {DataDirectoryError} when the directory cannot be made, or another process has it. */
  static async acquire(directory: string): Promise<DirectoryLock> {
    const descriptor = openDirectory(directory);
    const path = socketPath(directory, descriptor);
    try {
      const server = await listenAs(path);
      if (server !== undefined) return new DirectoryLock(server, path, descriptor);
    } catch (error) {
      closeSync(descriptor);
      throw new DataDirectoryError(`${directory} cannot be locked: ${reasonOf(error)}.`, { cause: error });
    }
    closeSync(descriptor);
    throw new DataDirectoryError(
      `${directory} is in use by another process. Stop that one, or use another directory.`,
    );
  }

  async release(): Promise<void> {
    // Removed while the socket still answers, so that no other process takes the name in between. If one has, the name
    // is not ours.
    if (inodeOf(this.#path) === this.#inode) rmSync(this.#path, { force: true });
    await close(this.#server);
    closeSync(this.#descriptor);
  }
}

/**
 * Removes the socket of a dead process, and no other. If two processes have found it dead:
 *
 *     P: no answer                             Q: no answer
 *     P: moves it away, dead, links its own
 *                                              Q: moves P's away: it answers → puts it back, refused
 *
 * In the moment before it is back a third process may link its own. Then both have the lock, and `Ownership` lets only
 * one of them write.
 *
 * @returns false if a process answers, or another process has just moved the socket away.
 */
export async function removeDead(path: string): Promise<boolean> {
  const moved = privateName(path);
  try {
    renameSync(path, moved);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  const isAlive = await isAnswered(moved);
  if (isAlive) link(moved, path);
  rmSync(moved, { force: true });
  return !isAlive;
}

function openDirectory(directory: string): number {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    keepPrivate(directory);
    return openSync(directory, 'r');
  } catch (error) {
    throw new DataDirectoryError(`${directory} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
}

/** A short path to a name in the directory: the name of a socket may have at most 107 bytes. */
function socketPath(directory: string, descriptor: number): string {
  return process.platform === 'linux'
    ? `/proc/self/fd/${descriptor}/${FILE_NAME}`
    : join(directory, FILE_NAME);
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

function privateName(path: string): string {
  return `${path}-${randomBytes(PRIVATE_NAME_BYTES).toString('hex')}`;
}

/** Undefined: another process has the name. */
async function listenAs(path: string): Promise<Server | undefined> {
  const own = privateName(path);
  const server = await listen(own);
  try {
    if (await linkUnlessInUse(own, path)) return server;
  } catch (error) {
    await close(server);
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
  await close(server);
  return undefined;
}

async function linkUnlessInUse(own: string, path: string): Promise<boolean> {
  if (link(own, path)) return true;
  return !(await isAnswered(path)) && (await removeDead(path)) && link(own, path);
}

/** False: the name exists already. */
function link(existing: string, path: string): boolean {
  try {
    linkSync(existing, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    // The lock alone does not keep the process alive.
    server.unref();
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    // Any other error means a live process that this one may not reach, or that is too busy.
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')));
  });
}
