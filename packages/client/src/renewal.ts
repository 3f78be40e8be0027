import { Alarm } from './environment.ts';
import { noNewToken, renewalUnknown, type TransportError, tokenExpired } from './errors.ts';
import {
  FRAME_BYTES_MAX,
  RENEW_FROM,
  RENEW_MS_MIN,
  RENEW_UNTIL,
  RETRY_MS_MAX,
  RETRY_MS_MIN,
  TIMER_MS_MAX,
} from './limits.ts';
import type { Settings, TransportEvent } from './options.ts';
import type { Memory } from './outbound.ts';
import { readToken, type Token } from './token.ts';

/** The last try comes this long before the end: `token()`, AUTH and its answer need the time. */
const LAST_TRY_MS = 2_000;

/**
 * Bytes of CONNECT kept free for the property with the Authentication Method, and for the lengths that grow with it.
 */
const METHOD_BYTES_MAX = 32;

export interface RenewalPorts {
  readonly settings: Settings;
  readonly report: (event: TransportEvent) => void;
  readonly fail: (error: TransportError) => void;
  readonly memory: Memory;
  /** Shows the server a new token. False: only the next connection can show it. */
  readonly show: (token: string) => boolean;
}

/**
 * Fetches a new token before the connection's token ends (11), at a random moment: clients that came together must not
 * renew together. While there is none it asks again, and it ends the connection when the token ends.
 */
export class Renewal {
  readonly #ports: RenewalPorts;
  readonly #renewAlarm: Alarm;
  readonly #endAlarm: Alarm;
  /** The connection's token, if its end is known. */
  #token: Token | undefined;
  /** The token in an AUTH that the server has not answered yet. */
  #shown: Token | undefined;
  #failures = 0;
  #isOver = false;

  constructor(ports: RenewalPorts) {
    this.#ports = ports;
    this.#renewAlarm = new Alarm(ports.settings.timers);
    this.#endAlarm = new Alarm(ports.settings.timers);
  }

  /** The token has expired. */
  get hasEnded(): boolean {
    return this.#token !== undefined && this.#token.endsAtMs <= this.#now();
  }

  /** Notes the token of the handshake. */
  admit(token: string | undefined): void {
    this.#token = readToken(token ?? '', this.#now());
    this.#shown = undefined;
  }

  /** A token that never ends needs no renewal. */
  wantsMethod(connect: Uint8Array): boolean {
    const hasRoom = connect.length + METHOD_BYTES_MAX <= FRAME_BYTES_MAX;
    return hasRoom && this.#token !== undefined && !this.#ports.memory.isUnrenewable;
  }

  /** The server does not know the Authentication Method. */
  giveUp(): void {
    this.#ports.memory.isUnrenewable = true;
    this.#ports.report({ type: 'not-renewed', error: renewalUnknown() });
  }

  /** From now on the connection lasts as long as this token. */
  start(): void {
    const token = this.#token;
    if (token === undefined) return;
    this.#failures = 0;
    const leftMs = token.endsAtMs - this.#now();
    const share = RENEW_FROM + (RENEW_UNTIL - RENEW_FROM) * this.#ports.settings.random();
    this.#renewIn(Math.max(RENEW_MS_MIN, leftMs * share));
    this.#watchEnd(token);
  }

  /** The server has taken the token of AUTH. */
  taken(): void {
    if (this.#shown === undefined || this.#isOver) return;
    this.#token = this.#shown;
    this.#shown = undefined;
    this.start();
    this.#ports.report({ type: 'renewed' });
  }

  stop(): void {
    this.#isOver = true;
    this.#renewAlarm.clear();
    this.#endAlarm.clear();
  }

  #renewIn(milliseconds: number): void {
    this.#renewAlarm.set(Math.min(milliseconds, TIMER_MS_MAX), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { settings, show } = this.#ports;
    try {
      const text = await settings.token?.();
      if (this.#isOver) return;
      const token = readToken(text ?? '', this.#now());
      if (token === undefined || token.exp <= (this.#token?.exp ?? 0)) this.#failed(undefined);
      else if (show(token.text)) this.#shown = token;
    } catch (cause) {
      if (!this.#isOver) this.#failed(cause);
    }
  }

  #failed(cause: unknown): void {
    this.#ports.report({ type: 'not-renewed', error: noNewToken(cause) });
    const backoffMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.#failures);
    const leftMs = (this.#token?.endsAtMs ?? 0) - this.#now();
    const waitMs = Math.min(backoffMs * (0.5 + this.#ports.settings.random()), leftMs - LAST_TRY_MS);
    this.#failures += 1;
    this.#renewIn(Math.max(RETRY_MS_MIN, waitMs));
  }

  #watchEnd(token: Token): void {
    this.#endAlarm.set(Math.min(token.endsAtMs - this.#now(), TIMER_MS_MAX), () => {
      if (this.#now() < token.endsAtMs) this.#watchEnd(token);
      // The server has answered the AUTH, or the transport has given its frame up.
      else if (this.#shown === undefined) this.#ports.fail(tokenExpired());
    });
  }

  #now(): number {
    return this.#ports.settings.timers.now();
  }
}
