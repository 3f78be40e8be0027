import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { cannotListen, type LogLevel, type LogSink, NodeLog, systemScheduler } from '@apus/node';
import { CommandError } from '../commands/command.ts';
import { untilStopped } from '../commands/signals.ts';
import type { RunningDoors } from '../start-doors.ts';
import type { Given, Listening } from './given.ts';
import { LEAVE_MS } from './limits.ts';
import { OwnEngine } from './own-engine.ts';
import { Supervisor } from './supervisor.ts';
import { runWorker } from './worker.ts';

export interface WorkersOptions {
  readonly count: number;
  readonly host: string;
  /** The port; 0: any free one. */
  readonly port: number;
  /** The engine of `--cluster`. Undefined: the command starts one. */
  readonly engineUrl: string | undefined;
  /** The data folder of the engine that the command starts. */
  readonly dataDirectory: string | undefined;
  readonly shutdownTimeoutSeconds: number;
  readonly logLevel: LogLevel;
  readonly logSink: LogSink;
  /** The text that the command prints at its start, for all workers together. */
  readonly welcome: (listening: Listening, notes: readonly string[]) => string;
  /** Starts the broker of one worker. */
  readonly start: (given: Given) => Promise<RunningDoors>;
}

/**
 * Runs several processes that are one broker at one port, and returns the exit code. Each worker runs this function,
 * too.
 */
export async function runWorkers(options: WorkersOptions): Promise<number> {
  return cluster.isWorker ? await runWorker(options.start) : await supervise(options);
}

async function supervise(options: WorkersOptions): Promise<number> {
  const { engineUrl, dataDirectory } = options;
  const port = await freePort(options.host, options.port);
  const engine = engineUrl === undefined ? await OwnEngine.start(dataDirectory) : undefined;
  try {
    return await superviseWith(engine, port, options);
  } finally {
    await engine?.stop();
  }
}

async function superviseWith(
  engine: OwnEngine | undefined,
  port: number,
  { count, shutdownTimeoutSeconds, logLevel, logSink, welcome }: WorkersOptions,
): Promise<number> {
  const supervisor = new Supervisor({
    count,
    given: { engineUrl: engine?.url, port },
    ownsEngine: engine !== undefined,
    stopMsMax: shutdownTimeoutSeconds * 1000 + LEAVE_MS,
    log: new NodeLog(logLevel, logSink, systemScheduler),
  });
  if (!process.stdin.isTTY) process.on('SIGHUP', () => supervisor.signal('SIGHUP'));
  const stopped = untilStopped(() => supervisor.stop());
  const failures = [
    supervisor.failed,
    ...(engine === undefined ? [] : [engine.failed.then((reason) => ({ reason, exitCode: 1 }))]),
  ];
  void supervisor.start().then((listening) => console.log(welcome(listening, notesOn(engine, count))));
  const failure = await Promise.race([...failures, stopped]);
  if (failure === undefined) return 0;
  await supervisor.stop();
  if (failure.reason !== undefined) throw new CommandError(failure.reason);
  return failure.exitCode;
}

/** The text of the start says which data a restart loses. */
function notesOn(engine: OwnEngine | undefined, count: number): string[] {
  const are = `${count} processes share this address`;
  if (engine === undefined) return [`${are}, and the engine of --cluster.`];
  if (engine.isKept) return [`${are}. Their engine, ${engine.name}, keeps sessions and messages in --data.`];
  return [
    `${are}. Their engine, ${engine.name}, keeps sessions, messages and rooms in memory:`,
    'a worker that dies loses none, and all are gone when this command ends. With --data DIRECTORY they are kept.',
  ];
}

/** All workers use the same port, also those that start later: so it is chosen before the first one starts. */
async function freePort(host: string, port: number): Promise<number> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, host, port, '--port');
  } finally {
    server.close();
  }
}
