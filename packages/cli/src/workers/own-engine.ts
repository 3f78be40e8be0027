import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Duplex, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectoryError, openEngineDirectory } from '@apus/store-disk';
import { CommandError } from '../commands/command.ts';
import { findEngine } from './engine-program.ts';
import {
  ENGINE_ANSWER_MS_MAX,
  ENGINE_LINES_MAX,
  ENGINE_POLL_MS,
  ENGINE_START_MS_MAX,
  ENGINE_STOP_MS_MAX,
  ENGINE_WORDS_MAX,
  ENGINE_WORDS_MS_MAX,
  PASSWORD_BYTES,
  SOCKET_NAME_BYTES_MAX,
} from './limits.ts';

const SOCKET_NAME = 'engine.sock';

/**
 * Becomes the engine, and leaves behind a watch process that ends the engine when this command is gone, for whatever
 * reason. Descriptor 3 is a pipe whose other end only the command has. A line in it says that the engine has ended by
 * itself. The watch is not a child of the engine: the engine would react to the end of a child that it has not started.
 */
const BECOME_ENGINE = `umask 077
( ( read -r line <&3 || { kill -TERM $$; [ -z "$2" ] || rm -rf -- "$2"; } ) >/dev/null 2>&1 & )
exec 3<&-
exec "$1" -`;

/** The folder of an engine's files and its socket. */
interface Place {
  readonly path: string;
  readonly isKept: boolean;
  release(): Promise<void>;
}

/** An engine that belongs to this command: no other program has its password, and it ends with the command. */
export class OwnEngine {
  /** The engine's address for workers. It contains the password, so it must not be logged. */
  readonly url: string;
  /** The name of the program, such as `redis-server`. */
  readonly name: string;
  /** Whether a later run finds the data. */
  readonly isKept: boolean;
  /** Resolves with the reason if the engine ends and `stop` was not called. */
  readonly failed: Promise<string>;
  readonly #child: ChildProcess;
  readonly #place: Place;
  readonly #exited: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  #words = '';
  #isStopping = false;

  private constructor(program: string, place: Place) {
    const socket = join(place.path, SOCKET_NAME);
    const password = randomBytes(PASSWORD_BYTES).toString('base64url');
    this.#place = place;
    this.name = basename(program);
    this.isKept = place.isKept;
    this.url = `unix://${encodeURI(socket)}?password=${password}`;
    // The engine runs in a session of its own: Ctrl+C reaches only the command, whose workers still write to the
    // engine.
    const args = ['-c', BECOME_ENGINE, 'sh', program, place.isKept ? '' : place.path];
    this.#child = spawn('/bin/sh', args, { detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    this.#exited = once(this.#child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    this.#listen();
    const input = this.#child.stdin as Writable;
    input.on('error', () => {});
    input.end(configuration(place, socket, password));
    this.failed = this.#exited.then(
      async ([code, signal]) => {
        await this.#allSaid();
        return this.#reason(code, signal);
      },
      (error: Error) => `The engine cannot be started: ${error.message}`,
    );
  }

  /**
   * Starts the engine that is on the PATH.
   *
   * @param directory the folder for its data; undefined: it keeps none
   * @throws {CommandError} if there is none, or it does not start
   */
  static async start(directory: string | undefined): Promise<OwnEngine> {
    const program = findEngine();
    const place = await placeFor(directory);
    try {
      const engine = new OwnEngine(program, place);
      await engine.#ready();
      // The output of its start is not needed later.
      engine.#words = '';
      return engine;
    } catch (error) {
      await place.release();
      throw error;
    }
  }

  /** Call it when no worker uses the engine any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const impatient = setTimeout(() => this.#child.kill('SIGKILL'), ENGINE_STOP_MS_MAX);
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM');
    await this.#exited.catch(() => {});
    clearTimeout(impatient);
    await this.#place.release();
  }

  async #ready(): Promise<void> {
    const socket = join(this.#place.path, SOCKET_NAME);
    const deadlineMs = performance.now() + ENGINE_START_MS_MAX;
    while (!(await isAnswered(socket))) {
      const reason = await Promise.race([this.failed, sleep(ENGINE_POLL_MS)]);
      if (reason !== undefined) throw new CommandError(reason);
      if (performance.now() < deadlineMs) continue;
      this.#child.kill('SIGKILL');
      throw new CommandError(
        `The engine (${this.name}) does not answer. It said last: ${lastWordsOf(this.#words)}`,
      );
    }
  }

  /** The engine's output is kept for the reason of its end, and is not mixed into the log. */
  #listen(): void {
    const { stdout, stderr, stdio } = this.#child;
    for (const stream of [stdout, stderr])
      stream?.on('data', (bytes: Buffer) => {
        this.#words = (this.#words + bytes.toString()).slice(-ENGINE_WORDS_MAX);
      });
    const watch = stdio[3] as Duplex;
    watch.on('error', () => {});
    this.#child.once('exit', () => watch.end('ended\n'));
  }

  /**
   * The last output may come after the engine's end. A child of the engine, which rewrites a file, may keep the streams
   * open for longer.
   */
  async #allSaid(): Promise<void> {
    const { stdout, stderr } = this.#child;
    const ended = [stdout, stderr].map((stream) => stream && finished(stream));
    await Promise.race([Promise.allSettled(ended), sleep(ENGINE_WORDS_MS_MAX)]);
  }

  #reason(code: number | null, signal: string | null): string {
    if (this.#isStopping) return 'The engine has ended as it was asked to.';
    const how = signal === null ? `with status ${code}` : `by ${signal}`;
    const words = lastWordsOf(this.#words);
    return `The engine (${this.name}) has ended ${how}.${words === '' ? '' : ` It said last: ${words}`}`;
  }
}

/** The lines without process, time and level, and without those that it prints at each start. */
function lastWordsOf(words: string): string {
  const lines = words
    .split('\n')
    .map((line) => line.replace(/^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ \S /, '').trim())
    .filter((line) => line !== '' && !line.startsWith('WARNING'));
  return lines.slice(-ENGINE_LINES_MAX).join(' ');
}

function configuration(place: Place, socket: string, password: string): string {
  const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  const lines = [
    'port 0',
    `unixsocket ${quoted(socket)}`,
    'unixsocketperm 700',
    `requirepass ${password}`,
    `dir ${quoted(place.path)}`,
    // The engine must write data to the disk before PUBACK, or not at all.
    ...(place.isKept ? ['appendonly yes', 'appendfsync always'] : ['appendonly no']),
    'save ""',
    'maxmemory 0',
    'maxmemory-policy noeviction',
    'daemonize no',
    'loglevel warning',
    'logfile ""',
  ];
  return `${lines.join('\n')}\n`;
}

async function placeFor(directory: string | undefined): Promise<Place> {
  if (directory === undefined) {
    const path = await mkdtemp(join(tmpdir(), 'apus-engine-'));
    return checked({ path, isKept: false, release: () => rm(path, { recursive: true, force: true }) });
  }
  const place = await opened(resolve(directory));
  return checked({ ...place, isKept: true });
}

async function opened(directory: string): ReturnType<typeof openEngineDirectory> {
  try {
    return await openEngineDirectory(directory);
  } catch (error) {
    if (error instanceof DataDirectoryError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

/** The engine of a run that was killed may still write to its file for a moment. */
async function checked(place: Place): Promise<Place> {
  const socket = join(place.path, SOCKET_NAME);
  const bytes = Buffer.byteLength(socket);
  const deadlineMs = performance.now() + ENGINE_STOP_MS_MAX;
  try {
    if (bytes > SOCKET_NAME_BYTES_MAX)
      throw new CommandError(
        `The engine's socket would be ${socket}: ${bytes} bytes, and a system takes ${SOCKET_NAME_BYTES_MAX}. Use a directory with a shorter path.`,
      );
    while (await isListening(socket)) {
      if (performance.now() > deadlineMs)
        throw new CommandError(`An engine of a former run still uses ${place.path}. End it first.`);
      await sleep(ENGINE_POLL_MS);
    }
    return place;
  } catch (error) {
    await place.release();
    throw error;
  }
}

/** Whether a program has the socket, even if it does not answer: two engines would corrupt each other's file. */
function isListening(path: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(path, () => {
      socket.destroy();
      answer(true);
    });
    socket.once('error', () => answer(false));
  });
}

/**
 * Whether an engine answers there, even if only that a password is missing. An engine that still reads its file accepts
 * connections.
 */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(path, () => socket.write('PING\r\n'));
    socket.setTimeout(ENGINE_ANSWER_MS_MAX, () => socket.destroy());
    socket.once('data', () => {
      answer(true);
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.once('close', () => answer(false));
  });
}
