import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { type AwsCredentials, encodeStrictly } from '../../http/sigv4.ts';
import type { ExportBucket } from './export-usage.ts';

const TIMEOUT_MS = 20_000;
const ATTEMPTS_MAX = 3;

export interface S3BucketOptions {
  readonly bucketName: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** The endpoint of an emulated AWS. @default S3 of the Region */
  readonly endpoint?: string | undefined;
}

/** The two calls on S3 that an export needs: its whole client would be most of the function. */
export class S3Bucket implements ExportBucket {
  readonly #base: URL;
  readonly #signer: SignatureV4;

  constructor({ bucketName, region, credentials, endpoint }: S3BucketOptions) {
    this.#base = new URL(
      endpoint === undefined
        ? `https://${bucketName}.s3.${region}.amazonaws.com/`
        : `${endpoint.replace(/\/$/, '')}/${bucketName}/`,
    );
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    this.#signer = new SignatureV4({
      service: 's3',
      region,
      sha256: Sha256,
      // S3 alone wants the path as it stands on the wire.
      uriEscapePath: false,
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    });
  }

  async has(name: string): Promise<boolean> {
    const { status } = await this.#send('HEAD', name, '', {});
    if (status === 200) return true;
    if (status === 404) return false;
    throw new Error(`S3 answered ${status} to a question for ${name}`);
  }

  async put(name: string, body: string, contentType: string): Promise<void> {
    const { status, text } = await this.#send('PUT', name, body, { 'content-type': contentType });
    if (status !== 200) throw new Error(`S3 answered ${status} to ${name}: ${text.slice(0, 500)}`);
  }

  async #send(
    method: 'HEAD' | 'PUT',
    name: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly text: string }> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#once(method, name, body, headers).catch((error: unknown) => {
        if (attempt >= ATTEMPTS_MAX) throw error;
        return undefined;
      });
      if (answer !== undefined && (answer.status < 500 || attempt >= ATTEMPTS_MAX)) return answer;
    }
  }

  async #once(method: string, name: string, body: string, headers: Readonly<Record<string, string>>) {
    const path = `${this.#base.pathname}${name.split('/').map(encodeStrictly).join('/')}`;
    const { protocol, hostname, port, host } = this.#base;
    const signed = await this.#signer.sign({
      ...{ method, protocol, hostname, path, query: {} },
      ...(port !== '' && { port: Number(port) }),
      headers: { host, ...headers },
      body,
    });
    const { host: _, ...sent } = signed.headers;
    const answer = await fetch(new URL(path, this.#base), {
      method,
      headers: sent,
      ...(method === 'PUT' && { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: answer.status, text: await answer.text() };
  }
}

/** As the signer wants it. */
class Sha256 {
  readonly #key: string | Uint8Array | undefined;
  #hash: Hash | Hmac;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#key = key === undefined || typeof key === 'string' ? key : bytesOf(key);
    this.#hash = this.#fresh();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#fresh();
  }

  #fresh(): Hash | Hmac {
    return this.#key === undefined ? createHash('sha256') : createHmac('sha256', this.#key);
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
