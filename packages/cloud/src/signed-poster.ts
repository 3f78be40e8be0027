import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '@apus/broker';
import type { Poster, PostOutcome } from './poster.ts';
import { type AwsCredentials, encodeStrictly, RequestSigner } from './sigv4.ts';

/** Sockets to the gateway that are kept open between posts. */
const SOCKETS_MAX = 64;
/** A post that takes longer is given up: whether it arrived is unknown. */
const POST_TIMEOUT_MS = 2_000;
/** Waits between the tries of a post that was throttled, or that may be repeated: a fraction of a second in all. */
const RETRY_DELAYS_MS = [25, 75, 200];

export interface SignedPosterOptions {
  /** `https://{api}.execute-api.{region}.amazonaws.com/{stage}`: @connections is below it. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
  readonly clock: Clock;
  /** Waits; a test's may be short. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** The @connections API over signed HTTP/1.1 on kept-alive sockets: the SDK's client costs several times the CPU. */
export class SignedPoster implements Poster {
  readonly #endpoint: URL;
  readonly #signer: RequestSigner;
  readonly #clock: Clock;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #agent: HttpAgent;

  constructor({ endpoint, region, credentials, clock, sleep = defaultSleep }: SignedPosterOptions) {
    this.#endpoint = new URL(endpoint);
    this.#signer = new RequestSigner(credentials, region);
    this.#clock = clock;
    this.#sleep = sleep;
    const options = { keepAlive: true, maxSockets: SOCKETS_MAX };
    this.#agent = this.#endpoint.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  }

  async post(connectionId: string, text: string, mayRepeat: boolean): Promise<PostOutcome> {
    for (const delayMs of RETRY_DELAYS_MS) {
      const outcome = await this.#try('POST', connectionId, text);
      const isWorthAnother = outcome === 'throttled' || (outcome === 'failed' && mayRepeat);
      if (!isWorthAnother) return outcome;
      await this.#sleep(delayMs);
    }
    return await this.#try('POST', connectionId, text);
  }

  async delete(connectionId: string): Promise<void> {
    for (const delayMs of RETRY_DELAYS_MS) {
      const outcome = await this.#try('DELETE', connectionId, '');
      if (outcome !== 'throttled' && outcome !== 'failed') return;
      await this.#sleep(delayMs);
    }
  }

  /** Closes the kept-alive sockets; for the end of a test. */
  close(): void {
    this.#agent.destroy();
  }

  async #try(method: string, connectionId: string, body: string): Promise<PostOutcome> {
    try {
      return outcomeOf(await this.#send(method, connectionId, body));
    } catch {
      return 'failed';
    }
  }

  #send(method: string, connectionId: string, body: string): Promise<number> {
    const { host, hostname, port, protocol, pathname } = this.#endpoint;
    const base = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
    const path = `${base}/@connections/${encodeStrictly(connectionId)}`;
    const headers = {
      ...this.#signer.sign(method, host, path, body, this.#clock.now()),
      'content-length': Buffer.byteLength(body),
    };
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    const options = { method, hostname, port, path, headers, agent: this.#agent, timeout: POST_TIMEOUT_MS };
    return new Promise((resolve, reject) => {
      const request = send(options, (response: IncomingMessage) => {
        // The body is read so that the socket can be used again; the status says all.
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
        response.once('error', reject);
      });
      request.once('timeout', () => request.destroy(new Error(`no answer within ${POST_TIMEOUT_MS} ms`)));
      request.once('error', reject);
      request.end(body);
    });
  }
}

function outcomeOf(status: number): PostOutcome {
  if (status >= 200 && status < 300) return 'sent';
  if (status === 410) return 'gone';
  if (status === 429) return 'throttled';
  return status === 413 ? 'too-large' : 'failed';
}

function defaultSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
