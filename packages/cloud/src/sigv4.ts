import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const SERVICE = 'execute-api';

/**
 * Signs requests to one API with AWS Signature Version 4. The signing key depends on the day and is kept for it:
 * deriving it is most of the work.
 */
export class RequestSigner {
  readonly #credentials: AwsCredentials;
  readonly #region: string;
  #day = '';
  #key: Buffer = Buffer.alloc(0);

  constructor(credentials: AwsCredentials, region: string) {
    this.#credentials = credentials;
    this.#region = region;
  }

  /** The headers that sign a request. `path` is as it stands on the wire; there is no query. */
  sign(method: string, host: string, path: string, body: string, nowMs: number): Record<string, string> {
    const time = `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    const day = time.slice(0, 8);
    const { accessKeyId, sessionToken } = this.#credentials;
    const token = sessionToken === undefined ? [] : [['x-amz-security-token', sessionToken] as const];
    const signed = [['host', host] as const, ['x-amz-date', time] as const, ...token];
    const names = signed.map(([name]) => name).join(';');
    const canonical = [
      method,
      canonicalPath(path),
      '',
      ...signed.map(([name, value]) => `${name}:${value}`),
      '',
      names,
      sha256(body),
    ].join('\n');
    const scope = `${day}/${this.#region}/${SERVICE}/aws4_request`;
    const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
    const signature = createHmac('sha256', this.#signingKey(day)).update(toSign).digest('hex');
    return {
      ...Object.fromEntries(signed),
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    };
  }

  #signingKey(day: string): Buffer {
    if (day !== this.#day) {
      const parts = [day, this.#region, SERVICE, 'aws4_request'];
      let key: Buffer = Buffer.from(`AWS4${this.#credentials.secretAccessKey}`);
      for (const part of parts) key = createHmac('sha256', key).update(part).digest();
      this.#key = key;
      this.#day = day;
    }
    return this.#key;
  }
}

/** Each segment of the path is encoded once more than on the wire, as every service but S3 wants it. */
function canonicalPath(path: string): string {
  return path.split('/').map(encodeStrictly).join('/');
}

/** `encodeURIComponent` leaves five characters that AWS encodes. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
