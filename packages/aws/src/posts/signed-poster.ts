import { createSecureContext } from 'node:tls';
import { type Clock, type Log, steadyNow } from '@apus/broker';
import { type ConnectionStatus, connectionStatusOf } from '../connections/get-connection.ts';
import { Frame } from '../frames/frame.ts';
import { HttpClient, type RequestSender } from '../http/client.ts';
import { type AwsCredentials, encodeConnectionId, encodePath, RequestSigner } from '../http/sigv4.ts';
import type { HttpOutcome } from '../http/socket.ts';
import { type Meter, NO_METER } from '../metrics/meter.ts';
import { METRICS } from '../metrics/metric-names.ts';
import type { PostAttempts, Poster, PostOutcome } from './poster.ts';

/** Sockets to the gateway that are kept open between posts. */
const SOCKETS_MAX = 64;
/** A post that takes longer is given up: it is unknown whether it arrived. */
export const POST_TIMEOUT_MS = 2_000;
/** Shorter than any server's limit. An environment that was frozen opens new sockets and does not try old ones. */
const IDLE_MS_MAX = 10_000;
/** Waits between the tries of a post that was throttled or may be repeated: in all a fraction of a second. */
const RETRY_DELAYS_MS = [25, 75, 200];

export interface SignedPosterOptions {
  /** `https://{api}.execute-api.{region}.amazonaws.com/{stage}`: @connections is below it. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
  readonly clock: Clock;
  /** Waits; a test's may be short. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** The certificate authority of a custom endpoint, in PEM. @default the well-known ones */
  readonly ca?: string;
  /** Carries the requests. @default HTTP/1.1 on sockets of its own */
  readonly client?: RequestSender;
  /** Counts each 429 that a `post` meets; a caller of single attempts counts its own. @default no counts */
  readonly meter?: Meter;
  /** Says which calls failed, and how. @default nothing is said */
  readonly log?: Pick<Log, 'warn'>;
}

/** The @connections API over signed HTTP/1.1 on kept-alive sockets: the SDK's client costs several times the CPU. */
export class SignedPoster implements Poster, PostAttempts {
  readonly #signer: RequestSigner;
  readonly #client: RequestSender;
  readonly #clock: Clock;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #meter: Meter;
  readonly #log: Pick<Log, 'warn'> | undefined;
  /** `/{stage}/@connections/`, as it stands on the wire and in the canonical request. */
  readonly #path: string;
  readonly #canonicalPath: string;

  constructor(options: SignedPosterOptions) {
    const { endpoint, region, credentials, clock, sleep = defaultSleep, meter = NO_METER } = options;
    const { host, pathname } = new URL(endpoint);
    this.#path = `${pathname.endsWith('/') ? pathname : `${pathname}/`}@connections/`;
    this.#canonicalPath = encodePath(this.#path);
    this.#signer = new RequestSigner(credentials, region, host);
    this.#clock = clock;
    this.#sleep = sleep;
    this.#meter = meter;
    this.#log = options.log;
    this.#client = options.client ?? clientOf(options);
  }

  async post(connectionId: string, content: Frame | string, mayRepeat: boolean): Promise<PostOutcome> {
    let frame = typeof content === 'string' ? new Frame(content) : content;
    for (let tries = 0; ; tries += 1) {
      const outcome = await this.attempt(connectionId, frame);
      if (outcome === 'sent') return outcome;
      if (outcome === 'throttled') this.#meter.add(METRICS.postsThrottled);
      const delayMs = RETRY_DELAYS_MS[tries];
      const next = outcome === 'failed' ? repeatOf(frame, mayRepeat) : frame;
      if (!PASSING.has(outcome) || delayMs === undefined || next === undefined) return outcome;
      if (next !== frame) this.#meter.add(METRICS.messagesDropped, frame.packets - next.packets);
      frame = next;
      await this.#sleep(delayMs);
    }
  }

  attempt(connectionId: string, frame: Frame): Promise<PostOutcome> {
    return this.#call('POST', connectionId, frame).then(outcomeOf);
  }

  async delete(connectionId: string): Promise<boolean> {
    for (const delayMs of [0, ...RETRY_DELAYS_MS]) {
      if (delayMs > 0) await this.#sleep(delayMs);
      const outcome = outcomeOf(await this.#call('DELETE', connectionId, NOTHING));
      if (outcome === 'sent' || outcome === 'gone') return true;
    }
    return false;
  }

  async get(connectionId: string, untilMs = Number.POSITIVE_INFINITY): Promise<ConnectionStatus> {
    for (const delayMs of RETRY_DELAYS_MS) {
      const status = await this.#ask(connectionId);
      if (status !== 'unknown' || steadyNow(this.#clock) + delayMs >= untilMs) return status;
      await this.#sleep(delayMs);
    }
    return await this.#ask(connectionId);
  }

  async #ask(connectionId: string): Promise<ConnectionStatus> {
    return connectionStatusOf(await this.#call('GET', connectionId, NOTHING));
  }

  #call(method: string, connectionId: string, frame: Frame): Promise<HttpOutcome> {
    return this.#client.send(this.#request(method, connectionId, frame)).then((answer) => {
      const status = typeof answer === 'string' ? answer : answer.status;
      if (!ORDINARY.has(status)) this.#log?.warn('gateway-call-failed', { method, connectionId, status });
      return answer;
    });
  }

  /** Closes the kept-alive sockets; for the end of a test. */
  close(): void {
    this.#client.close();
  }

  #request(method: string, connectionId: string, frame: Frame): string {
    const { wire, canonical } = encodeConnectionId(connectionId);
    const canonicalPath = this.#canonicalPath + canonical;
    const headers = this.#signer.sign(method, canonicalPath, frame.sha256, this.#clock.now());
    return `${method} ${this.#path}${wire} HTTP/1.1\r\n${headers}content-length: ${frame.bytes.length}\r\n\r\n${frame.bytes}`;
  }
}

const NOTHING = new Frame('');

/** What the gateway answers while all is well. */
const ORDINARY: ReadonlySet<unknown> = new Set([200, 204, 410, 429]);

/** Outcomes that may change within a moment. */
const PASSING: ReadonlySet<PostOutcome> = new Set(['throttled', 'unsent', 'failed']);

/** The part of a frame that is sent again if it is unknown whether it arrived. Undefined: nothing. */
function repeatOf(frame: Frame, mayRepeat: boolean): Frame | undefined {
  return mayRepeat && !frame.mustComeOnce ? frame.repeat() : undefined;
}

function clientOf({ endpoint, clock, ca }: SignedPosterOptions): HttpClient {
  const { protocol, hostname, port } = new URL(endpoint);
  const isSecure = protocol === 'https:';
  return new HttpClient({
    tls: isSecure ? { secureContext: createSecureContext(ca === undefined ? {} : { ca }) } : undefined,
    // An IPv6 address stands in brackets in a URL only.
    hostname: hostname.replaceAll(/[[\]]/g, ''),
    port: Number(port) || (isSecure ? 443 : 80),
    clock,
    socketsMax: SOCKETS_MAX,
    idleMsMax: IDLE_MS_MAX,
    timeoutMs: POST_TIMEOUT_MS,
  });
}

function outcomeOf(answer: HttpOutcome): PostOutcome {
  if (answer === 'unsent') return 'unsent';
  if (answer === 'unanswered') return 'failed';
  const { status } = answer;
  if (status >= 200 && status < 300) return 'sent';
  if (status === 410) return 'gone';
  if (status === 429) return 'throttled';
  return status === 413 ? 'too-large' : 'failed';
}

function defaultSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
