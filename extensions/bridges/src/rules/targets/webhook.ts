import { createHmac } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type Message, reasonOf } from '@apus/broker';
import type { WebhookConfiguration } from '../configuration/webhook.ts';
import type { BatchLimits, Failure, Target } from '../target.ts';
import type { Resolve } from './addresses.ts';
import { messageJson } from './message-json.ts';

/** Bytes of topics and payloads of one request. */
const BATCH_BYTES_MAX = 1024 * 1024;
/** Bytes of a response body that are read; the rest is ignored. */
const ANSWER_BYTES_MAX = 16 * 1024;
/** Characters of the response body that an error contains. */
const ANSWER_LENGTH_MAX = 200;
const SOCKETS_MAX = 64;
/** Statuses that mean "try later", besides all from 500 on. */
const LATER = [408, 425, 429];
const SECRET_PREFIX = 'whsec_';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

/** Posts messages to an endpoint, signed by https://www.standardwebhooks.com. It follows no redirects. */
export class Webhook implements Target {
  readonly type = 'webhook';
  readonly remote: string;
  readonly batch: BatchLimits;
  readonly #rule: string;
  readonly #configuration: WebhookConfiguration;
  readonly #agent: HttpAgent;
  readonly #stopping = new AbortController();
  readonly #resolve: Resolve | undefined;

  /**
   * @param resolve finds the addresses of a name.
   * @default that of the system
   */
  constructor(rule: string, configuration: WebhookConfiguration, resolve?: Resolve) {
    const { url, batch, ca } = configuration;
    this.remote = url.origin + url.pathname;
    this.batch = { messagesMax: batch, bytesMax: BATCH_BYTES_MAX, isPartial: false };
    this.#rule = rule;
    this.#configuration = configuration;
    this.#resolve = resolve;
    const options = { keepAlive: true, maxSockets: SOCKETS_MAX };
    this.#agent =
      url.protocol === 'https:' ? new HttpsAgent({ ...options, ...(ca && { ca }) }) : new HttpAgent(options);
  }

  async send(batch: readonly Message[]): Promise<Failure | undefined> {
    try {
      const failure = failureOf(await this.#post(batch));
      return failure && { messages: batch, ...failure };
    } catch (error) {
      return { messages: batch, error: reasonOf(error), isPermanent: false };
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the rule stops'));
    this.#agent.destroy();
  }

  #post(batch: readonly Message[]): Promise<Answer> {
    const { url, timeoutSeconds, headers, addresses } = this.#configuration;
    const body = JSON.stringify({ rule: this.#rule, messages: batch.map(messageJson) });
    const deadline = AbortSignal.timeout(timeoutSeconds * 1000);
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const call = request(url, {
        method: 'POST',
        agent: this.#agent,
        lookup: addresses.lookup(this.#resolve) as never,
        signal: AbortSignal.any([deadline, this.#stopping.signal]),
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...this.#signed(batch, body),
        },
      });
      const fail = (error: Error): void =>
        reject(deadline.aborted ? new Error(`no answer within ${timeoutSeconds} s`) : error);
      call.on('error', fail);
      call.on('response', (response) => void read(response).then(resolve, fail));
      call.end(body);
    });
  }

  #signed(batch: readonly Message[], body: string): Readonly<Record<string, string>> {
    const { secret } = this.#configuration;
    const id = `${batch[0]?.id}-${batch.length}`;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
    if (secret === undefined) return headers;
    const signature = createHmac('sha256', keyOf(secret))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
    return { ...headers, 'webhook-signature': `v1,${signature}` };
  }
}

/** After `whsec_` comes base64; any other secret is used as it is. */
function keyOf(secret: string): Buffer {
  return secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret);
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) break;
  }
  const text = Buffer.concat(chunks).toString().slice(0, ANSWER_LENGTH_MAX).trim();
  return { status: response.statusCode ?? 0, text, headers: response.headers };
}

function failureOf({ status, text, headers }: Answer): Omit<Failure, 'messages'> | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) {
    const error = `answered ${status} to ${headers.location ?? 'an unnamed address'}: redirects are not followed`;
    return { error, isPermanent: true };
  }
  const error = `answered ${status}${text === '' ? '' : `: ${text}`}`;
  const isPermanent = status < 500 && !LATER.includes(status);
  return { error, isPermanent, retryAfterMs: retryAfterMsOf(headers['retry-after']) };
}

/** Reads Retry-After: seconds, or a date. */
function retryAfterMsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
