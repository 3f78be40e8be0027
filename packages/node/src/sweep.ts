import type { Log } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { CloseCode } from './close-code.ts';
import type { Links } from './links.ts';
import type { NodeLink } from './node-link.ts';
import type { Scheduler } from './scheduler.ts';

/** How late a silent client may be noticed. 18,000 comparisons four times a second are less than a millisecond. */
const SWEEP_MS = 250;

/** One timer for all links: ends those that are silent too long, and those that never say CONNECT. */
export class Sweep {
  readonly #links: Links;
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  readonly #connectTimeoutSeconds: number;
  #cancel: () => void = () => {};

  constructor(links: Links, scheduler: Scheduler, log: Log, connectTimeoutSeconds: number) {
    this.#links = links;
    this.#scheduler = scheduler;
    this.#log = log;
    this.#connectTimeoutSeconds = connectTimeoutSeconds;
  }

  start(): void {
    this.#cancel = this.#scheduler.after(SWEEP_MS, () => {
      const nowMs = this.#scheduler.now();
      for (const link of this.#links.all()) if (link.isOpen) this.#check(link, nowMs);
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  #check(link: NodeLink, nowMs: number): void {
    if (link.state.phase === 'connected')
      this.#checkKeepAlive(link, link.state.connection.keepAliveSeconds, nowMs);
    else if (nowMs - link.openedAtMs > this.#connectTimeoutSeconds * 1000) this.#endUnconnected(link);
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
    this.#log.info('connect-timeout', { connectionId: link.id, address: link.peer.address });
    link.closeWith(
      CloseCode.PolicyViolation,
      `No CONNECT was completed within ${this.#connectTimeoutSeconds} s`,
    );
  }
}
