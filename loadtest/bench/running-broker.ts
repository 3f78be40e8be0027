import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Launch, PreparedBroker } from './brokers/broker.ts';
import { type ProcessUse, processUse } from './process-use.ts';
import type { Certificate, Listener, WireName } from './wires.ts';

/** A Java program takes a few seconds to listen, more on a busy machine. */
const START_MS_MAX = 60_000;
const LOOK_MS = 50;

/** How long a broker may take to end after SIGTERM; then SIGKILL follows. */
const STOP_MS_MAX = 5_000;

/** Characters of a broker's standard error that are kept for the error message. */
const SAID_LENGTH_MAX = 4_000;

/** A broker's process. */
export interface RunningBroker {
  /** `ws://127.0.0.1:PORT/mqtt`, `tcp://…` or `tls://…`. */
  readonly url: string;
  use(): ProcessUse;
  /** Ends it, and returns when it is gone. */
  stop(): Promise<void>;
}

/** A broker that did not start, or has ended; the message contains its last output. */
export class BrokerFailed extends Error {
  override readonly name = 'BrokerFailed';
}

/** No started program outlives this process, unless SIGKILL ends this process. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Starts a broker on a free port of 127.0.0.1 and waits until it listens.
 *
 * @throws {BrokerFailed} when it ends before, or takes too long
 */
export async function startBroker(
  prepared: PreparedBroker,
  wire: WireName = 'ws',
  certificate?: Certificate,
): Promise<RunningBroker> {
  const port = await freePort();
  const child = spawnBroker(prepared.launch(listenerOf(port, wire, certificate)));
  const { pid } = child;
  const said = lastWordsOf(child);
  try {
    await listening(child, port, said);
  } catch (error) {
    await stop(child);
    throw error;
  }
  if (pid === undefined) throw new BrokerFailed('the process has no number');
  return {
    url: `${wire}://127.0.0.1:${port}${wire === 'ws' ? '/mqtt' : ''}`,
    use() {
      if (hasEnded(child)) throw new BrokerFailed(`the broker has ended by itself: ${said()}`);
      return processUse(pid);
    },
    stop: () => stop(child),
  };
}

function listenerOf(port: number, wire: WireName, certificate: Certificate | undefined): Listener {
  if (wire !== 'tls') return { port, wire };
  if (certificate === undefined) throw new BrokerFailed('it has no certificate');
  return { port, wire, certificate };
}

function spawnBroker({ command, args, environment }: Launch): ChildProcess {
  // In its own process group: Ctrl+C at the terminal reaches only the benchmark, which stops it in order.
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

function lastWordsOf(child: ChildProcess): () => string {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-SAID_LENGTH_MAX);
  });
  child.on('error', (error) => {
    said += error.message;
  });
  return () => said.trim();
}

async function listening(child: ChildProcess, port: number, said: () => string): Promise<void> {
  const untilMs = performance.now() + START_MS_MAX;
  while (!(await answers(port))) {
    // When it is closed, all of its output has been read.
    if (child.pid === undefined || !children.has(child))
      throw new BrokerFailed(`it ended at once: ${said()}`);
    if (performance.now() > untilMs)
      throw new BrokerFailed(`it does not listen after ${START_MS_MAX / 1_000} s: ${said()}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await gone;
  clearTimeout(timer);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
