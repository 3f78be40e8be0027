import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { end, launch, programOrSkip } from '../support/program.ts';

/** The program of Mosquitto. Debian installs it in a folder that is only in the path of root. */
export function mosquittoOrSkip(): string | undefined {
  return programOrSkip({
    programs: process.env.APUS_MOSQUITTO
      ? [process.env.APUS_MOSQUITTO]
      : ['mosquitto', '/usr/sbin/mosquitto'],
    // Mosquitto has no flag that prints only its version. Its help prints it and ends with 3.
    args: ['-h'],
    status: 3,
    reason: 'needs Mosquitto: install it, or name the program in APUS_MOSQUITTO',
  });
}

export interface Mosquitto {
  readonly port: number;
  readonly securePort: number;
  /** Ends Mosquitto with a signal, and starts it again with the same database. */
  restart(signal: NodeJS.Signals): Promise<void>;
}

/**
 * A Mosquitto with a database, for the length of one test. Over TLS it asks clients for a certificate of its authority.
 */
export async function startMosquitto(program = '', certificates?: string): Promise<Mosquitto> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-mosquitto-'));
  const [port, securePort] = [await freePort(), await freePort()];
  writeFileSync(join(directory, 'm.conf'), configurationOf(directory, port, securePort, certificates));
  const start = () => launch(program, ['-c', join(directory, 'm.conf')], port);
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
  // Started as root, Mosquitto would become another user, which could not write to the folder.
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
