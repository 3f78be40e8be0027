import { Alarm } from './environment.ts';
import { messageOf, noReply, type TransportError, tooMuchWaiting } from './errors.ts';
import { decodeServerFrame } from './frame.ts';
import { HoldBack } from './hold-back.ts';
import {
  ABNORMAL,
  HANDLER_LIFE_MS,
  MOVE_AGAIN_MS,
  MOVE_FROM,
  MOVE_REPEATS_MS,
  MOVE_REPLY_MS,
  MOVE_UNTIL,
  MOVE_WITHIN_MS,
} from './limits.ts';
import type { Settings, TransportEvent } from './options.ts';
import type { Outbound } from './outbound.ts';
import type { Reply } from './parted-reply.ts';
import { countReceived, countSent, type Statistics } from './statistics.ts';
import type { GatewaySocket } from './web-socket.ts';

export interface MoverPorts {
  readonly settings: Settings;
  readonly statistics: Statistics;
  readonly outbound: Pick<Outbound, 'confirm' | 'rest' | 'goOn' | 'stop'>;
  /** Opens a second socket, whose events come here until the session has moved. */
  readonly open: (opens: (socket: GatewaySocket) => void) => Promise<void>;
  /** The session has moved to that socket. */
  readonly moved: (frames: readonly string[], more: boolean, socket: GatewaySocket) => void;
  /**
   * The session has been resumed on that socket after a loss, with the reply that brings the messages that wait.
   * `hasGap`: some of them may be missing.
   */
  readonly resumed: (reply: Reply, frames: readonly string[], hasGap: boolean, socket: GatewaySocket) => void;
  /** Notes that a connection begins. Returns how many milliseconds to wait before the next one. */
  readonly retryMs: () => number;
  /** The session cannot be resumed. */
  readonly giveUp: () => void;
  readonly report: (event: TransportEvent) => void;
  readonly fail: (error: TransportError) => void;
}

/**
 * Moves the session to a second socket before the gateway cuts the first (12). The server closes the first socket
 * itself: all that the first one brings comes before all that the second one brings. When a connection is lost, the
 * mover resumes the session over another (13).
 */
export class Mover {
  readonly #ports: MoverPorts;
  readonly #alarm: Alarm;
  #ticket: string | undefined;
  /** How long the client may resume a lost connection. 0 or NaN: it may not. */
  #resumeMs = 0;
  /** Until when the client may resume this lost connection. 0: the connection is not lost. */
  #resumesUntil = 0;
  #wasInOrder = false;
  #waitMs = 0;
  /** The timer for the next try to resume. */
  #isWaiting = false;
  #socket: GatewaySocket | undefined;
  /** The frames that have come on the second socket. */
  #held = new HoldBack<string>();
  #sent = 0;
  #reply: Reply | undefined;
  #hasOldClosed = false;

  constructor(ports: MoverPorts) {
    this.#ports = ports;
    this.#alarm = new Alarm(ports.settings.timers);
  }

  /** The server has allowed a move, and has said when the gateway will cut the connection. */
  plan(move = ''): void {
    const [ticket, connectionSeconds, resumeSeconds] = move.split(',');
    const share = MOVE_FROM + (MOVE_UNTIL - MOVE_FROM) * this.#ports.settings.random();
    this.#ticket = ticket;
    this.#resumeMs = Number(resumeSeconds) * 1_000;
    this.#alarm.set(Number(connectionSeconds) * 1_000 * share, () => this.begin());
  }

  /** Moves before the planned moment if a new token waits. */
  begin(): void {
    if (this.#ticket === undefined || this.#socket !== undefined || this.isResuming) return;
    // When the socket opens, every handler of an unanswered frame has ended.
    this.#ports.outbound.confirm();
    this.#alarm.set(HANDLER_LIFE_MS, () => void this.#open());
  }

  get isResuming(): boolean {
    return this.#resumesUntil > 0;
  }

  /**
   * Handles the loss of the connection (13). False: the session cannot go on.
   *
   * @param inOrder everything that was sent before has come
   */
  resume(inOrder: boolean): boolean {
    const { outbound, settings } = this.#ports;
    if (this.#ticket === undefined || !(this.#resumeMs > 0)) return false;
    this.#wasInOrder = inOrder && this.#sent === 0;
    this.#socket?.close(1000);
    this.#reset();
    this.#resumesUntil = settings.timers.now() + this.#resumeMs;
    outbound.stop();
    void this.#open();
    return true;
  }

  /** The network is back: tries again now. */
  hurry(): void {
    if (this.#isWaiting) void this.#open();
  }

  isOf(socket: GatewaySocket): boolean {
    return socket === this.#socket;
  }

  opened(): void {
    if (this.isResuming) this.#ask(`~!${this.#ticket}`);
    else this.#ports.outbound.rest(() => this.#repeat());
  }

  received(text: string): void {
    const frame = decodeServerFrame(text);
    if (frame.kind === 'reply' && frame.move !== undefined) {
      countReceived(this.#ports.statistics, text);
      this.#reply = frame;
      if (!frame.move.startsWith('!')) this.#goOn();
      else if (this.isResuming) this.#ports.giveUp();
      // The first socket closed by itself before the server moved the session.
      else if (this.#hasOldClosed) this.#ports.fail(noReply(0));
      else this.#putOff(frame.move, frame.move === '!later');
      return;
    }
    if (frame.kind !== 'error') {
      if (!this.#held.hold(text)) this.#ports.fail(tooMuchWaiting());
    } else if (this.isResuming) this.#failed('');
    // Repeats the frame of a move.
  }

  /** The second socket has closed. False: the server may have moved the session to it already. */
  closed(code: number): boolean {
    if (!this.isResuming && this.#sent > 0) return false;
    this.#failed(`closed ${code}`);
    return true;
  }

  /** The first socket has closed. False: the server has not closed it, or the last messages on it may be missing. */
  hasClosedOld(code: number): boolean {
    if (this.#sent === 0 || code === ABNORMAL) return false;
    this.#hasOldClosed = true;
    this.#goOn();
    return true;
  }

  /**
   * The program ends the connection. The mover starts no other move, but finishes one that the server may have made.
   */
  leave(): void {
    if (this.isResuming) {
      this.#resumesUntil = 1;
      if (this.#isWaiting) this.#ports.giveUp();
      return;
    }
    if (this.#sent > 0) return;
    this.stop();
    this.#ports.outbound.goOn();
  }

  stop(): void {
    this.#ticket = undefined;
    this.#socket?.close(1000);
    this.#reset();
  }

  async #open(): Promise<void> {
    const { settings, retryMs, giveUp, open } = this.#ports;
    this.#isWaiting = false;
    if (this.isResuming) this.#waitMs = retryMs();
    this.#alarm.set(this.isResuming ? settings.replyTimeoutMs : MOVE_WITHIN_MS, () => {
      // Without a socket the transport still waits for the program's token.
      if (this.isResuming && this.#socket === undefined) giveUp();
      else this.#failed('busy');
    });
    try {
      await open((socket) => {
        this.#socket = socket;
      });
    } catch (cause) {
      this.#failed(messageOf(cause));
    }
  }

  #failed(why: string): void {
    if (this.isResuming) this.#tryAgain();
    else this.#putOff(why);
  }

  /** Tries again later, for as long as the server may keep the session. */
  #tryAgain(): void {
    this.#socket?.close(1000);
    this.#drop();
    if (this.#ports.settings.timers.now() + this.#waitMs > this.#resumesUntil) {
      this.#ports.giveUp();
      return;
    }
    this.#isWaiting = true;
    this.#alarm.set(this.#waitMs, () => void this.#open());
  }

  #repeat(): void {
    const text = `~${this.#ticket}`;
    const waitMs = MOVE_REPEATS_MS[this.#sent];
    if (waitMs === undefined) {
      // The server has not answered, or cannot close the first socket.
      this.#ports.fail(noReply(MOVE_REPLY_MS));
      return;
    }
    this.#ask(text);
    this.#alarm.set(waitMs, () => this.#repeat());
  }

  #ask(text: string): void {
    this.#sent += 1;
    countSent(this.#ports.statistics, text, 0);
    this.#socket?.send(text);
  }

  #goOn(): void {
    const socket = this.#socket;
    const reply = this.#reply;
    if (reply === undefined || socket === undefined || !(this.#hasOldClosed || this.isResuming)) return;
    const held = this.#held.release();
    const hasGap = !this.#wasInOrder || reply.move?.endsWith(',g') === true;
    const { isResuming } = this;
    this.#reset();
    if (isResuming) {
      this.#ports.resumed(reply, held, hasGap, socket);
      return;
    }
    this.plan(reply.move);
    this.#ports.moved(held, reply.more, socket);
    this.#ports.report({ type: 'moved' });
  }

  #putOff(why: string, isWorthwhile = this.#sent === 0): void {
    this.#socket?.close(1000);
    this.#reset();
    if (isWorthwhile) this.#alarm.set(MOVE_AGAIN_MS, () => this.begin());
    else this.stop();
    this.#ports.outbound.goOn();
    this.#ports.report({ type: 'not-moved', why });
  }

  #reset(): void {
    this.#drop();
    this.#resumesUntil = 0;
    this.#isWaiting = false;
  }

  /** Forgets the second socket. */
  #drop(): void {
    this.#alarm.clear();
    this.#socket = undefined;
    this.#held.release();
    this.#sent = 0;
    this.#reply = undefined;
    this.#hasOldClosed = false;
  }
}
