import { type Connection, IDENTITY_EXPIRED, namesOf, type SparingLog, steadyNow } from '@apus/broker';
import { CloseCode, type Scheduler } from '@apus/door';
import { ReasonCode } from '@apus/mqtt';
import type { NodeLimits } from './limits.ts';
import type { Links } from './links.ts';
import type { NodeLink } from './node-link.ts';

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
  readonly #looked: () => void;
  #cancel: () => void = () => {};

  /** @param looked is called after each look */
  constructor(
    links: Links,
    scheduler: Scheduler,
    log: SparingLog,
    limits: SweepLimits,
    looked: () => void = () => {},
  ) {
    this.#links = links;
    this.#scheduler = scheduler;
    this.#log = log;
    this.#limits = limits;
    this.#looked = looked;
  }

  start(): void {
    this.#cancel = this.#scheduler.after(SWEEP_MS, () => {
      this.start();
      const nowMs = steadyNow(this.#scheduler);
      const wallMs = this.#scheduler.now();
      for (const link of this.#links.all()) this.#guardedCheck(link, nowMs, wallMs);
      this.#log.tell();
      this.#looked();
    });
  }

  stop(): void {
    this.#cancel();
  }

  #guardedCheck(link: NodeLink, nowMs: number, wallMs: number): void {
    try {
      if (link.isOpen) this.#check(link, nowMs, wallMs);
    } catch (error) {
      link.failed(error);
    }
  }

  #check(link: NodeLink, nowMs: number, wallMs: number): void {
    if (link.state.phase === 'connected') {
      this.#checkConnected(link, link.state.connection, nowMs, wallMs);
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

  #checkConnected(
    link: NodeLink,
    { identity, keepAliveSeconds }: Connection,
    nowMs: number,
    wallMs: number,
  ): void {
    if (identity.expiresAtMs !== undefined && identity.expiresAtMs <= wallMs)
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
