import { Alarm } from './environment.ts';
import { messageOf, noReply, type TransportError, tooMuchWaiting } from './errors.ts';
import { decodeServerFrame } from './frame.ts';
import {
  ABNORMAL,
  HANDLER_LIFE_MS,
  HELD_BYTES_MAX,
  HELD_PUSHES_MAX,
  MOVE_AGAIN_MS,
  MOVE_FROM,
  MOVE_REPEATS_MS,
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
  readonly outbound: Pick<Outbound, 'confirm' | 'rest' | 'goOn'>;
  /** Opens a second socket, whose events come here until the session has moved. */
  readonly open: (opens: (socket: GatewaySocket) => void) => Promise<void>;
  /** The session goes on over that socket. */
  readonly moved: (frames: readonly string[], more: boolean, socket: GatewaySocket) => void;
  readonly report: (event: TransportEvent) => void;
  readonly fail: (error: TransportError) => void;
}

/**
 * Moves the session to a second socket before the gateway cuts the first (12). The server cuts that one itself: what it
 * has brought until its end comes before all that the second one brings.
 */
export class Mover {
  readonly #ports: MoverPorts;
  readonly #alarm: Alarm;
  #ticket: string | undefined;
  #socket: GatewaySocket | undefined;
  /** Frames that have come on it. */
  #held: string[] = [];
  #heldCharacters = 0;
  #sent = 0;
  #reply: Reply | undefined;
  #hasOldClosed = false;

  constructor(ports: MoverPorts) {
    this.#ports = ports;
    this.#alarm = new Alarm(ports.settings.timers);
  }

  /** The server has said how, and when the connection would be cut. */
  plan(move = ''): void {
    const [ticket, connectionSeconds] = move.split(',');
    const share = MOVE_FROM + (MOVE_UNTIL - MOVE_FROM) * this.#ports.settings.random();
    this.#ticket = ticket;
    this.#alarm.set(Number(connectionSeconds) * 1_000 * share, () => this.begin());
  }

  /** Ahead of the plan where a new token waits. False: the session cannot be moved. */
  begin(): boolean {
    if (this.#ticket === undefined) return false;
    if (this.#socket !== undefined) return true;
    // Every handler of a frame that is not answered has ended when the socket opens.
    this.#ports.outbound.confirm();
    this.#alarm.set(HANDLER_LIFE_MS, () => void this.#open());
    return true;
  }

  isOf(socket: GatewaySocket): boolean {
    return socket === this.#socket;
  }

  opened(): void {
    this.#ports.outbound.rest(() => this.#send());
  }

  received(text: string): void {
    const frame = decodeServerFrame(text);
    if (frame.kind === 'reply' && frame.move !== undefined) {
      countReceived(this.#ports.statistics, text);
      this.#reply = frame;
      if (frame.move.startsWith('!')) this.#putOff(frame.move, frame.move === '!later');
      else this.#goOn();
      return;
    }
    // The gateway's own errors: the frame is repeated.
    if (frame.kind === 'error') return;
    this.#held.push(text);
    this.#heldCharacters += text.length;
    if (this.#held.length > HELD_PUSHES_MAX || this.#heldCharacters > HELD_BYTES_MAX)
      this.#ports.fail(tooMuchWaiting());
  }

  /** The second socket has closed. False: the session may be there already. */
  closed(code: number): boolean {
    if (this.#sent > 0) return false;
    this.#putOff(`closed ${code}`);
    return true;
  }

  /** The first socket has closed. False: the server has not cut it, or what it brought last may be missing. */
  hasClosedOld(code: number): boolean {
    if (this.#sent === 0 || code === ABNORMAL) return false;
    this.#hasOldClosed = true;
    this.#goOn();
    return true;
  }

  /** The program ends the connection: it moves no more, but for a move that the server may have made. */
  leave(): void {
    if (this.#sent > 0) return;
    this.stop();
    this.#ports.outbound.goOn();
  }

  stop(): void {
    this.#alarm.clear();
    this.#ticket = undefined;
    this.#socket?.close(1000);
    this.#socket = undefined;
  }

  async #open(): Promise<void> {
    this.#alarm.set(MOVE_WITHIN_MS, () => this.#putOff('busy'));
    try {
      await this.#ports.open((socket) => {
        this.#socket = socket;
      });
    } catch (cause) {
      this.#putOff(messageOf(cause));
    }
  }

  #send(): void {
    if (this.#sent > 0) return;
    this.#repeat();
  }

  #repeat(): void {
    const text = `~${this.#ticket}`;
    const waitMs = MOVE_REPEATS_MS[this.#sent];
    if (waitMs === undefined) {
      // The server has not answered, or cannot cut the first socket.
      this.#ports.fail(noReply(MOVE_REPEATS_MS.reduce((sum, each) => sum + each, 0)));
      return;
    }
    this.#sent += 1;
    countSent(this.#ports.statistics, text, 0);
    this.#socket?.send(text);
    this.#alarm.set(waitMs, () => this.#repeat());
  }

  #goOn(): void {
    const socket = this.#socket;
    const reply = this.#reply;
    if (reply === undefined || socket === undefined || !this.#hasOldClosed) return;
    const held = this.#held;
    this.#reset();
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
    this.#alarm.clear();
    this.#socket = undefined;
    this.#held = [];
    this.#heldCharacters = 0;
    this.#sent = 0;
    this.#reply = undefined;
    this.#hasOldClosed = false;
  }
}
