import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { codeOf, DataDirectoryError, reasonOf } from './errors.ts';

const FILE_NAME = 'apus.lock';

/** Of a name that no other process has: it is in use for a moment only. */
const PRIVATE_NAME_BYTES = 4;

/**
 * Keeps every other process out of a data directory. The lock is a listening Unix socket, which the kernel takes back
 * when its process dies, however it dies: only a file without a listener is left. Process ids would not do, since two
 * containers that share a volume may both be process 1. That rules out LMDB's own table of readers, which is by process
 * id; besides, LMDB lets several processes open one file. Node.js has no `flock`, and lock files with a time in them
 * take a process that is busy for one that is dead.
 *
 * A socket listens under a private name first and is then linked to that of the lock: at most one link succeeds, and a
 * socket that has the lock's name and does not answer is dead, not about to listen.
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
    // Removed while it still answers, so that no other process takes the name in between. If one has, the name is not
    // ours.
    if (inodeOf(this.#path) === this.#inode) rmSync(this.#path, { force: true });
    await close(this.#server);
    closeSync(this.#descriptor);
  }
}

/**
 * Removes the socket of a dead process, and no other. Two that have both found it dead:
 *
 *     P: no answer                             Q: no answer
 *     P: moves it away, dead, links its own
 *                                              Q: moves P's away: it answers → puts it back, refused
 *
 * In the moment before it is back a third process may link its own. Both have the lock then, and `Ownership` lets only
 * one of them write.
 *
 * @returns false when a process answers, or another process has just moved it away.
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

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

function privateName(path: string): string {
  return `${path}-${randomBytes(PRIVATE_NAME_BYTES).toString('hex')}`;
}

/** Undefined when another process has the name. */
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

/** False when there is something of this name already. */
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
    // Any other error means a live process: one to which this one may not connect, or one that is too busy.
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')));
  });
}
