import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { type Log, type PeerCertificate, steadyNow } from '@apus/broker';
import type { Scheduler } from '@apus/door';
import { StartError } from '../start-error.ts';

/** A certificate with those of its issuers, and its private key: files in PEM. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Authorities whose certificates of clients are taken, and their lists of revoked ones: files in PEM. */
export interface ClientAuthorities {
  readonly ca: readonly string[];
  readonly crl: readonly string[];
}

/** How late a changed file is noticed. Events are missed in mounted volumes. */
const LOOK_MS = 2_000;
/** How often a certificate that has expired, or soon will, is logged. */
const WARN_MS = 24 * 3_600_000;
const SOON_MS = 14 * 24 * 3_600_000;

/** Files that all users of the machine may read. */
const READABLE_BY_ALL = 0o004;

/** Options of a TLS server. */
type Credentials = Required<Pick<SecureContextOptions, 'cert' | 'key' | 'minVersion'>> &
  Pick<SecureContextOptions, 'ca' | 'crl'>;

interface Loaded {
  readonly certificate: X509Certificate;
  readonly credentials: Credentials;
  readonly context: SecureContext;
}

/**
 * The certificates of all TLS listeners. They are read again when a file changes: connections that are there go on, and
 * files that are wrong, or half written, leave those in force that were read before.
 */
export class Certificates {
  readonly #files: readonly CertificateFiles[];
  readonly #authorities: ClientAuthorities;
  readonly #log: Log;
  readonly #clock: Scheduler;
  #loaded: readonly Loaded[];
  #seen: string;
  #warnedAtMs = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => {};

  /** @throws {StartError} with the file and what is wrong with it */
  constructor(
    files: readonly CertificateFiles[],
    authorities: ClientAuthorities,
    log: Log,
    clock: Scheduler,
  ) {
    this.#files = files;
    this.#authorities = authorities;
    this.#log = log;
    this.#clock = clock;
    this.#seen = this.#state();
    this.#loaded = this.#load();
    for (const { key } of files)
      if ((statSync(key).mode & READABLE_BY_ALL) !== 0) log.warn('key-readable-by-all', { file: key });
  }

  /** Clients are asked for a certificate. */
  get asksClients(): boolean {
    return this.#authorities.ca.length > 0;
  }

  /** The first ones, for clients that name no server. Another object once files were read again. */
  get first(): Credentials {
    const [first] = this.#loaded;
    if (first === undefined) throw new StartError('a listener with TLS needs --tls-cert and --tls-key');
    return first.credentials;
  }

  /** Those for a server name, or else the first. */
  contextFor(serverName: string): SecureContext | undefined {
    const loaded = this.#loaded.find(({ certificate }) => certificate.checkHost(serverName) !== undefined);
    return (loaded ?? this.#loaded[0])?.context;
  }

  watch(): void {
    this.look();
    this.#cancel = this.#clock.after(LOOK_MS, () => this.watch());
  }

  stop(): void {
    this.#cancel();
  }

  /** Reads files that have changed. */
  look(): void {
    const state = this.#state();
    if (state !== this.#seen) {
      this.#seen = state;
      try {
        this.#loaded = this.#load();
        this.#warnedAtMs = Number.NEGATIVE_INFINITY;
        this.#log.info('certificates-read', { files: this.#files.map(({ cert }) => cert) });
      } catch (error) {
        this.#log.error('certificates-not-read', { error: (error as Error).message });
      }
    }
    this.#warn();
  }

  #load(): readonly Loaded[] {
    const { ca, crl } = this.#authorities;
    const verifying = {
      ...(ca.length > 0 && { ca: ca.map(read) }),
      ...(crl.length > 0 && { crl: crl.map(read) }),
    };
    return this.#files.map((files) => load(files, verifying));
  }

  #state(): string {
    const { ca, crl } = this.#authorities;
    return [...this.#files.flatMap(({ cert, key }) => [cert, key]), ...ca, ...crl].map(stateOf).join();
  }

  #warn(): void {
    const sinceMs = steadyNow(this.#clock);
    if (sinceMs - this.#warnedAtMs < WARN_MS) return;
    this.#warnedAtMs = sinceMs;
    const nowMs = this.#clock.now();
    for (const [index, { certificate }] of this.#loaded.entries()) {
      const leftMs = Date.parse(certificate.validTo) - nowMs;
      if (leftMs > SOON_MS) continue;
      const fields = { file: this.#files[index]?.cert, until: new Date(nowMs + leftMs).toISOString() };
      if (leftMs <= 0) this.#log.error('certificate-expired', fields);
      else this.#log.warn('certificate-expires', fields);
    }
  }
}

function stateOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${ino} ${size} ${mtimeMs}`;
}

function load({ cert, key }: CertificateFiles, verifying: Pick<Credentials, 'ca' | 'crl'>): Loaded {
  const credentials: Credentials = {
    ...{ cert: read(cert), key: read(key), minVersion: 'TLSv1.2' },
    ...verifying,
  };
  try {
    const certificate = new X509Certificate(credentials.cert as Buffer);
    if (!certificate.checkPrivateKey(createPrivateKey(credentials.key as Buffer)))
      throw new Error('the key is that of another certificate');
    return { certificate, credentials, context: createSecureContext(credentials) };
  } catch (error) {
    throw new StartError(`${cert} and ${key} are no certificate with its key: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new StartError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** The holder that a verified certificate names. */
export function certificateOf(certificate: X509Certificate): PeerCertificate {
  const { subject, subjectAltName, serialNumber, validTo } = certificate;
  // One attribute a line, each as `CN=meter-7`.
  const attributes = subject.split('\n');
  return {
    subject: attributes.join(', '),
    commonName: attributes.find((each) => each.startsWith('CN='))?.slice(3),
    alternativeNames: subjectAltName?.split(', ') ?? [],
    serialNumber,
    validToMs: Date.parse(validTo),
  };
}
