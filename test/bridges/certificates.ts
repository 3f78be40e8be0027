import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The configuration file of `openssl ca`. */
const CA_CONFIGURATION = `[ca]
default_ca = own
[own]
database = index
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = names
[names]
commonName = supplied
`;

/**
 * A folder with a certificate authority, `ca.pem`, and with certificates and keys that it has signed: `server` for this
 * machine, `client`, and `expired`, which was valid for a day in 2020; `stranger`, which it has not signed; and its list
 * of revoked ones, `crl.pem`, which has `client`. The caller removes the folder.
 */
export function makeCertificates(): { readonly directory: string; remove(): void } {
  const cwd = mkdtempSync(join(tmpdir(), 'apus-bridge-tls-'));
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  openssl('req', '-x509', ...key, '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  writeFileSync(join(cwd, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  writeFileSync(join(cwd, 'ca.cnf'), CA_CONFIGURATION);
  writeFileSync(join(cwd, 'index'), '');
  const authority = ['-batch', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key'];
  for (const name of ['server', 'client', 'expired']) {
    openssl('req', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const dates =
      name === 'expired' ? ['-startdate', '20200101000000Z', '-enddate', '20200102000000Z'] : ['-days', '1'];
    const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-notext', '-extfile', 'names'];
    openssl('ca', ...authority, ...dates, ...files);
  }
  openssl('req', '-x509', ...key, '-subj', '/CN=stranger', '-keyout', 'stranger.key', '-out', 'stranger.pem');
  openssl('ca', ...authority, '-revoke', 'client.pem');
  openssl('ca', ...authority, '-gencrl', '-crldays', '1', '-out', 'crl.pem');
  return { directory: cwd, remove: () => rmSync(cwd, { recursive: true, force: true }) };
}
