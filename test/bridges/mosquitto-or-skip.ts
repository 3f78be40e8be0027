import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';

/** Debian puts it where only administrators look. */
const PATHS = [process.env.APUS_MOSQUITTO, 'mosquitto', '/usr/sbin/mosquitto'];
const START_MS_MAX = 20_000;
const POLL_MS = 20;

/**
 * The program of Mosquitto. Undefined where there is none: then a skipped test says so, because a developer without it
 * can still work on the rest. In CI that fails.
 */
export function mosquittoOrSkip(): string | undefined {
  const program = PATHS.find((path) => path !== undefined && isThere(path));
  if (program !== undefined) return program;
  const reason = 'needs Mosquitto: install it, or name the program in APUS_MOSQUITTO';
  if (process.env.CI !== undefined) throw new Error(reason);
  it.skip(reason, () => {});
  return undefined;
}

function isThere(path: string): boolean {
  try {
    // It has no flag for its version alone: its help ends with 3, and a program that is not there with ENOENT.
    execFileSync(path, ['-h'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return (error as { readonly status?: number | null }).status === 3;
  }
}

export interface Mosquitto {
  readonly port: number;
  readonly securePort: number;
  /** Ends it with a signal, and starts it again over the same database. */
  restart(signal: NodeJS.Signals): Promise<void>;
}

/** A Mosquitto for the length of one test, with a database; over TLS it wants a certificate of its authority. */
export async function startMosquitto(program: string, certificates?: string): Promise<Mosquitto> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-mosquitto-'));
  const [port, securePort] = [await freePort(), await freePort()];
  writeFileSync(join(directory, 'm.conf'), configurationOf(directory, port, securePort, certificates));
  const start = () => launch(program, directory, port);
  let child = await start();
  onTestFinished(async () => {
    await end(child, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    port,
    securePort,
    async restart(signal) {
      await end(child, signal);
      child = await start();
    },
  };
}

function configurationOf(directory: string, port: number, securePort: number, certificates?: string): string {
  const lines = [`listener ${port} 127.0.0.1`, 'allow_anonymous true', 'persistence true'];
  lines.push(`persistence_location ${directory}/`, 'max_queued_messages 0', 'max_inflight_messages 20');
  // As root it would become another user, to whom the folder does not belong.
  lines.push('user root');
  if (certificates !== undefined) {
    lines.push(
      `listener ${securePort} 127.0.0.1`,
      'require_certificate true',
      'use_identity_as_username true',
    );
    for (const [name, file] of [
      ['cafile', 'ca.pem'],
      ['certfile', 'server.pem'],
      ['keyfile', 'server.key'],
    ])
      lines.push(`${name} ${join(certificates, file ?? '')}`);
  }
  return `${lines.join('\n')}\n`;
}

async function launch(program: string, directory: string, port: number): Promise<ChildProcess> {
  const child = spawn(program, ['-c', join(directory, 'm.conf')], { stdio: 'ignore' });
  const deadlineMs = Date.now() + START_MS_MAX;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > deadlineMs) throw new Error('Mosquitto does not start');
    await sleep(POLL_MS);
  }
  return child;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}
