import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../src/cli/cli-error.ts';

/** The carriers of MQTT between the generator and a broker: WebSocket over TCP, TCP alone, or TLS. */
export type WireName = 'ws' | 'tcp' | 'tls';

export const WIRES: readonly { readonly name: WireName }[] = [
  { name: 'ws' },
  { name: 'tcp' },
  { name: 'tls' },
];

/** Files in PEM, for one run: a certificate for 127.0.0.1 that signs itself, and its key. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** The certificate's text: the generator trusts it alone. */
  readonly pem: string;
}

/** The one listener that a broker has, on 127.0.0.1. */
export type Listener = { readonly port: number } & (
  | { readonly wire: 'ws' }
  | { readonly wire: 'tcp' }
  | { readonly wire: 'tls'; readonly certificate: Certificate }
);

/** For the small programs of this bench that start a broker: the wire, and for TLS the files. */
export function wireArgs(listener: Listener): readonly string[] {
  if (listener.wire !== 'tls') return [listener.wire];
  const { certFile, keyFile } = listener.certificate;
  return [listener.wire, certFile, keyFile];
}

/**
 * Makes a certificate in a folder with `openssl`, with a key of the curve that most certificates of websites have.
 *
 * @throws {CommandError} if there is no `openssl`
 */
export function makeCertificate(folder: string): Certificate {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  openssl('req', '-x509', '-days', '1', ...key, ...names, '-out', certFile);
  return { certFile, keyFile, pem: readFileSync(certFile, 'utf8') };
}

/** @throws {CommandError} with what it says */
export function openssl(...args: readonly string[]): void {
  try {
    execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(
      code === 'ENOENT'
        ? 'The wire tls needs the program `openssl`, which makes a certificate.'
        : `openssl has made no certificate: ${message}`,
    );
  }
}
