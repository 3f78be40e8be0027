import { createHmac } from 'node:crypto';
import { HmacSha256, sha256Hex } from './sha256.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** The service of @connections, whose requests are on the hot path. */
const EXECUTE_API = 'execute-api';

/** The parts of a signature that all requests of one second share. */
interface Moment {
  /** Seconds since the epoch. */
  readonly seconds: number;
  /** The header lines without the signature. */
  readonly headers: string;
  /** The canonical request between the path and the hash of the body. */
  readonly canonicalHeaders: string;
  /** The string to sign without the hash of the canonical request. */
  readonly toSign: string;
  readonly key: HmacSha256;
}

/**
 * Signs requests to one host with AWS Signature Version 4. Within a second only method, path and body hash of the
 * canonical request differ; within a day the signing key stays, whose derivation is most of the work.
 */
export class RequestSigner {
  readonly #credentials: AwsCredentials;
  readonly #region: string;
  readonly #host: string;
  readonly #service: string;
  #moment: Moment | undefined;

  constructor(credentials: AwsCredentials, region: string, host: string, service = EXECUTE_API) {
    this.#service = service;
    this.#credentials = credentials;
    this.#region = region;
    this.#host = host;
  }

  /**
   * The header lines of a signed request, with the host's. `canonicalPath`: the path after `encodePath`; without a
   * query.
   */
  sign(method: string, canonicalPath: string, bodySha256: string, nowMs: number): string {
    const seconds = Math.floor(nowMs / 1_000);
    if (this.#moment?.seconds !== seconds) this.#moment = this.#momentOf(seconds);
    const { headers, canonicalHeaders, toSign, key } = this.#moment;
    const canonical = sha256Hex(`${method}\n${canonicalPath}\n\n${canonicalHeaders}\n${bodySha256}`);
    const signature = key.hex(`${toSign}${canonical}`);
    return `${headers}${signature}\r\n`;
  }

  #momentOf(seconds: number): Moment {
    const time = `${new Date(seconds * 1_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    const { accessKeyId, sessionToken } = this.#credentials;
    const token = sessionToken === undefined ? [] : [`x-amz-security-token:${sessionToken}`];
    const signed = [`host:${this.#host}`, `x-amz-date:${time}`, ...token];
    const names = signed.map((line) => line.slice(0, line.indexOf(':'))).join(';');
    const scope = `${time.slice(0, 8)}/${this.#region}/${this.#service}/aws4_request`;
    const authorization = `authorization: AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=`;
    return {
      seconds,
      headers: [...signed, authorization].join('\r\n'),
      canonicalHeaders: [...signed, '', names].join('\n'),
      toSign: `AWS4-HMAC-SHA256\n${time}\n${scope}\n`,
      key: this.#signingKey(scope),
    };
  }

  #scope = '';
  #key = new HmacSha256(Buffer.alloc(0));

  #signingKey(scope: string): HmacSha256 {
    if (scope === this.#scope) return this.#key;
    let key: Buffer = Buffer.from(`AWS4${this.#credentials.secretAccessKey}`);
    for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
    this.#scope = scope;
    this.#key = new HmacSha256(key);
    return this.#key;
  }
}

/** Each segment of the path is encoded once more than on the wire, as every service but S3 wants it. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeStrictly).join('/');
}

/** API Gateway's connection ids are base64: nearly all of their characters need no encoding. */
const LETTERS = /^[\w-]*$/;
const PADDINGS = [
  { wire: '', canonical: '' },
  { wire: '%3D', canonical: '%253D' },
  { wire: '%3D%3D', canonical: '%253D%253D' },
] as const;

/** The id in the path of a request, and in the signed path, where it is encoded once more. */
export function encodeConnectionId(connectionId: string): {
  readonly wire: string;
  readonly canonical: string;
} {
  const length = !connectionId.endsWith('=') ? 0 : connectionId.endsWith('==') ? 2 : 1;
  const letters = length === 0 ? connectionId : connectionId.slice(0, -length);
  if (!LETTERS.test(letters)) {
    const wire = encodeStrictly(connectionId);
    return { wire, canonical: encodeStrictly(wire) };
  }
  const { wire, canonical } = PADDINGS[length];
  return { wire: letters + wire, canonical: letters + canonical };
}

/** `encodeURIComponent` leaves five characters that AWS encodes. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
