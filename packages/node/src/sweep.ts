import { type Connection, IDENTITY_EXPIRED, namesOf, type SparingLog } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { CloseCode } from './close-code.ts';
import type { NodeLimits } from './limits.ts';
import type { Links } from './links.ts';
import type { NodeLink } from './node-link.ts';
import type { Scheduler } from './scheduler.ts';

/** How late a silent client may be noticed. 18,000 comparisons four times a second take less than a millisecond. */
const SWEEP_MS = 250;

export type SweepLimits = Pick<NodeLimits, 'connectTimeoutSeconds' | 'overdraftSecondsMax'>;

/**
 * One timer for all links and for the log: ends links that are silent too long, send too much for too long, or never
 * CONNECT.
 */
export class Sweep {
  readonly #links: Links;
  readonly #scheduler: Scheduler;
  readonly #log: SparingLog;
  readonly #limits: SweepLimits;
  #cancel: () => void = () => {};

  constructor(links: Links, scheduler: Scheduler, log: SparingLog, limits: SweepLimits) {
    this.#links = links;
    this.#scheduler = scheduler;
    this.#log = log;
    this.#limits = limits;
  }

  start(): void {
    this.#cancel = this.#scheduler.after(SWEEP_MS, () => {
      const nowMs = this.#scheduler.now();
      for (const link of this.#links.all()) if (link.isOpen) this.#check(link, nowMs);
      this.#log.tell();
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  #check(link: NodeLink, nowMs: number): void {
    if (link.state.phase === 'connected') {
      this.#checkConnected(link, link.state.connection, nowMs);
      this.#checkRate(link, nowMs);
    } else if (nowMs - link.openedAtMs > this.#limits.connectTimeoutSeconds * 1000)
      this.#endUnconnected(link);
  }

  /**
   * Not reading the client has not slowed it down to its rate: it may be a loop, so the node disconnects it with a
   * reason.
   */
  #checkRate(link: NodeLink, nowMs: number): void {
    const { overdraftSecondsMax } = this.#limits;
    if (overdraftSecondsMax === 0 || link.overdraftMs(nowMs) <= overdraftSecondsMax * 1000) return;
    this.#log.warn('message-rate-too-high', namesOf(link));
    link.disconnect(
      ReasonCode.MessageRateTooHigh,
      `More was sent than the quotas of this identity allow, for ${overdraftSecondsMax} s on end`,
    );
  }

  #checkConnected(link: NodeLink, { identity, keepAliveSeconds }: Connection, nowMs: number): void {
    if (identity.expiresAtMs !== undefined && identity.expiresAtMs <= nowMs)
      link.disconnect(ReasonCode.NotAuthorized, IDENTITY_EXPIRED);
    else this.#checkKeepAlive(link, keepAliveSeconds, nowMs);
  }

  /** One and a half times the Keep Alive without a packet [MQTT-3.1.2-22]. */
  #checkKeepAlive(link: NodeLink, keepAliveSeconds: number, nowMs: number): void {
    if (keepAliveSeconds === 0 || link.silentSinceMs === undefined) return;
    if (nowMs - link.silentSinceMs <= keepAliveSeconds * 1500) return;
    link.disconnect(
      ReasonCode.KeepAliveTimeout,
      `No packet came within 1.5 times the Keep Alive of ${keepAliveSeconds} s`,
    );
  }

  /** Nothing is sent before CONNACK [MQTT-3.14.0-1]: the WebSocket's close says why. */
  #endUnconnected(link: NodeLink): void {
    this.#log.info('connect-timeout', namesOf(link));
    link.closeWith(
      CloseCode.PolicyViolation,
      `No CONNECT was completed within ${this.#limits.connectTimeoutSeconds} s`,
    );
  }
}
