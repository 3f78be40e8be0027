import { IDENTITY_EXPIRED, type Log, namesOf } from '@apus/broker';
import { CloseCode, type Scheduler } from '@apus/door';
import { ReasonCode } from '@apus/mqtt';
import { KEEP_ALIVE_SLACK_MS_MAX, KEEP_ALIVE_SLACK_MS_MIN } from '../limits.ts';
import type { ObjectLink } from './object-link.ts';

/** A link has to be looked at then, for the reason that the look finds. */
interface Deadline {
  readonly atMs: number;
  /** How much later it may be. */
  readonly slackMs: number;
}

export interface KeepAliveContext {
  readonly clock: Scheduler;
  readonly log: Log;
  readonly connectTimeoutSeconds: number;
  all(): Iterable<ObjectLink>;
}

/** One timer for all links: ends those that are silent too long, never CONNECT, or whose identity has expired. */
export class KeepAlive {
  readonly #context: KeepAliveContext;
  #nextAtMs = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};

  constructor(context: KeepAliveContext) {
    this.#context = context;
  }

  /** The link is new, or its Keep Alive has been agreed on. */
  watch(link: ObjectLink): void {
    this.#wakeBy(this.#deadlineOf(link), false);
  }

  #look(): void {
    this.#nextAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#context.clock.now();
    for (const link of [...this.#context.all()]) {
      if (!link.isOpen) continue;
      try {
        this.#check(link, nowMs);
      } catch (error) {
        link.failed(error);
      }
      if (link.isOpen) this.#wakeBy(this.#deadlineOf(link), true);
    }
  }

  #check(link: ObjectLink, nowMs: number): void {
    const { state } = link;
    if (state.phase !== 'connected') {
      if (nowMs - link.openedAtMs >= this.#context.connectTimeoutSeconds * 1000) this.#endUnconnected(link);
      return;
    }
    if (link.isBusy) return;
    const { identity, keepAliveSeconds } = state.connection;
    if (identity.expiresAtMs !== undefined && identity.expiresAtMs <= nowMs)
      link.disconnect(ReasonCode.NotAuthorized, IDENTITY_EXPIRED);
    // One and a half times the Keep Alive without a packet [MQTT-3.1.2-22].
    else if (keepAliveSeconds > 0 && nowMs - link.lastPacketAtMs >= keepAliveSeconds * 1500)
      link.disconnect(
        ReasonCode.KeepAliveTimeout,
        `No packet came within 1.5 times the Keep Alive of ${keepAliveSeconds} s`,
      );
  }

  /** Nothing is sent before CONNACK [MQTT-3.14.0-1]: the WebSocket's close says why. */
  #endUnconnected(link: ObjectLink): void {
    const { connectTimeoutSeconds, log } = this.#context;
    log.info('connect-timeout', namesOf(link));
    link.closeWith(CloseCode.PolicyViolation, `No CONNECT was completed within ${connectTimeoutSeconds} s`);
  }

  #deadlineOf(link: ObjectLink): Deadline | undefined {
    const { state } = link;
    if (state.phase !== 'connected')
      return { atMs: link.openedAtMs + this.#context.connectTimeoutSeconds * 1000, slackMs: 0 };
    const { identity, keepAliveSeconds } = state.connection;
    const expiresAtMs = identity.expiresAtMs ?? Number.POSITIVE_INFINITY;
    const silentAtMs =
      keepAliveSeconds === 0 ? Number.POSITIVE_INFINITY : link.lastPacketAtMs + keepAliveSeconds * 1500;
    if (expiresAtMs <= silentAtMs)
      return Number.isFinite(expiresAtMs)
        ? { atMs: expiresAtMs, slackMs: KEEP_ALIVE_SLACK_MS_MIN }
        : undefined;
    const slackMs = Math.min(
      Math.max(keepAliveSeconds * 250, KEEP_ALIVE_SLACK_MS_MIN),
      KEEP_ALIVE_SLACK_MS_MAX,
    );
    return { atMs: silentAtMs, slackMs };
  }

  /**
   * Links whose times are near one another share an alarm. The object may have slept since it was set: no wake-up may give
   * a link that is over its time another slack. One that was looked at just now waits for its next look.
   */
  #wakeBy(deadline: Deadline | undefined, isLookedAt: boolean): void {
    if (deadline === undefined || deadline.atMs >= this.#nextAtMs) return;
    const { clock } = this.#context;
    const { atMs, slackMs } = deadline;
    const nowMs = clock.now();
    const lookAtMs = Math.max(isLookedAt ? nowMs + slackMs : nowMs, atMs + slackMs);
    if (this.#nextAtMs <= lookAtMs) return;
    this.#nextAtMs = lookAtMs;
    this.#cancel();
    this.#cancel = clock.after(lookAtMs - nowMs, () => this.#look());
  }
}
