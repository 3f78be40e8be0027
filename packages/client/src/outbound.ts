import { Alarm, type Timers } from './environment.ts';
import { noReply, notTaken, type TransportError } from './errors.ts';
import { encodeClientFrame } from './frame.ts';
import type { Heartbeat } from './heartbeat.ts';
import {
  ALIVE,
  ASK,
  EMPTY_FETCH_MS_MAX,
  EMPTY_FETCH_MS_MIN,
  HANDLER_LIFE_MS,
  NOT_TAKEN_MAX,
} from './limits.ts';
import type { Settings } from './options.ts';
import { frameHas, isLoneQos0, type OutgoingFrame, OutgoingQueue, repeated } from './outgoing-queue.ts';
import { qosOf, typeOf } from './packet.ts';
import * as PacketType from './packet-type.ts';
import { RarePublishes } from './rare-publishes.ts';
import { countSent, type Statistics } from './statistics.ts';

/** The state that outlives a connection. */
export interface Memory {
  /** The largest clock that a reply has carried (7). */
  clock: string | undefined;
  /** A handler may still be at work on a PUBLISH of an earlier connection: the next ones wait (6). */
  holdPublish: boolean;
  /** A token that was fetched for the next connection (11). */
  token: string | undefined;
  /** A handshake with CONNECT has failed: the next handshake carries none (15). */
  sparesHandshake: boolean;
  /** The server has refused the Authentication Method of tokens. */
  isUnrenewable: boolean;
}

export interface OutboundPorts {
  readonly settings: Settings;
  readonly memory: Memory;
  readonly statistics: Statistics;
  readonly heartbeat: Heartbeat;
  readonly sendText: (text: string) => void;
  readonly fail: (error: TransportError) => void;
  /** The close of the connection stands for DISCONNECT. */
  readonly closes: (frame: OutgoingFrame) => boolean;
  /** Fewer bytes wait than before. */
  readonly drained: () => void;
}

/** The part of a reply that concerns the sender of the frame. */
export interface Receipt {
  readonly clock: string | undefined;
  readonly taken: number | undefined;
  readonly more: boolean;
  readonly isEmpty: boolean;
  readonly extensions?: string | undefined;
}

const NOTHING: OutgoingFrame = { packets: [] };

/** Decides which frame may leave: one is in flight, and a few may leave out of turn (3). */
export class Outbound {
  readonly queue = new OutgoingQueue();
  readonly #ports: OutboundPorts;
  readonly #timers: Timers;
  readonly #rare = new RarePublishes();
  readonly #alarms: Alarm[] = [];
  readonly #replyAlarm: Alarm;
  readonly #acknowledgeAlarm: Alarm;
  readonly #fetchAlarm: Alarm;
  readonly #holdAlarm: Alarm;
  /** Set after a QoS 0 frame without a reply: its handler may live until then. */
  readonly #quietAlarm: Alarm;
  #outstanding: OutgoingFrame | undefined;
  /** The offer, which travels in the first frame that wants a reply (10, 15). */
  #offer = '';
  #isOpen = false;
  /** Every frame asks for a reply, also one with acknowledgements only. */
  #confirms = false;
  /** Called when no frame is outstanding. After it no frame leaves. */
  #atRest: (() => void) | undefined;
  #isAtRest = false;
  #isFlushing = false;
  #more = false;
  #isNudged = false;
  #isPaused = false;
  #emptyFetches = 0;
  /** 1 if a handler may still be at work on a publish that went out of turn when the connection ends. */
  #quiet = 0;
  #notTaken = 0;

  constructor(ports: OutboundPorts) {
    this.#ports = ports;
    this.#timers = ports.settings.timers;
    this.#replyAlarm = this.#newAlarm();
    this.#acknowledgeAlarm = this.#newAlarm();
    this.#fetchAlarm = this.#newAlarm();
    this.#holdAlarm = this.#newAlarm();
    this.#quietAlarm = this.#newAlarm();
  }

  #newAlarm(): Alarm {
    const alarm = new Alarm(this.#timers);
    this.#alarms.push(alarm);
    return alarm;
  }

  get isWaiting(): boolean {
    return this.#outstanding !== undefined;
  }

  /** The last reply said that more is waiting. */
  get hasMore(): boolean {
    return this.#more;
  }

  isOutstanding(type: number): boolean {
    return this.#outstanding !== undefined && frameHas(this.#outstanding, type);
  }

  start(offer: string, handled?: 'accepted' | 'handled'): void {
    this.#offer = offer;
    this.#isOpen = true;
    if (handled !== undefined) this.queue.dropFirst();
    this.#isNudged = handled === 'handled';
    this.#schedule();
  }

  /** From now on each frame asks for a reply, so that at some moment no handler is at work. */
  confirm(): void {
    this.#confirms = true;
  }

  /** Calls back when no frame is outstanding and no message waits at the server; after it no frame leaves. */
  rest(atRest: () => void): void {
    this.#atRest = atRest;
    this.#schedule();
  }

  /** Lets frames leave again. `more`: messages wait at the server. */
  goOn(more = this.#more): void {
    this.#confirms = false;
    this.#atRest = undefined;
    this.#isAtRest = false;
    this.#more = more;
    this.#acknowledge();
    this.#schedule();
  }

  /**
   * Goes on with the session over a new connection after a loss: sends the outstanding packets again, and waits for the
   * reply that brings the waiting messages. Returns the QoS 0 messages whose fate is unknown.
   */
  resumed(): number {
    const lost = this.#outstanding ?? NOTHING;
    const again = repeated(lost);
    this.queue.forgetAcknowledgements();
    this.queue.giveBack(again);
    this.#outstanding = NOTHING;
    this.#isOpen = true;
    this.#isNudged = false;
    this.goOn(false);
    this.connected();
    const unknown = lost.packets.filter((packet) => typeOf(packet) === PacketType.PUBLISH && !qosOf(packet));
    return unknown.length + this.#quiet;
  }

  /** CONNACK has come: from now on packets wait for the handlers of an earlier connection. */
  connected(): void {
    if (!this.#ports.memory.holdPublish) return;
    this.#holdAlarm.set(HANDLER_LIFE_MS, () => {
      this.#ports.memory.holdPublish = false;
      this.#schedule();
    });
  }

  add(packet: Uint8Array): void {
    this.queue.add(packet);
    if (this.#quietAlarm.isSet) this.#rare.startAgain();
    if (this.queue.hasAcknowledgements) {
      // The server may wait for just these acknowledgements before it sends more.
      this.#fetchAlarm.clear();
      const { acknowledgeDelayMs } = this.#ports.settings;
      if (!this.#acknowledgeAlarm.isSet)
        this.#acknowledgeAlarm.set(acknowledgeDelayMs, () => this.#acknowledge());
    }
    this.#schedule();
  }

  /** The library has paused: the transport fetches nothing more for it. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#schedule();
  }

  /** Messages wait at the server that no reply has announced: the next frame fetches them. */
  nudge(): void {
    this.#isNudged = true;
    this.#fetchAlarm.clear();
    this.#schedule();
  }

  /** Sends a sign of life, which the gateway does not answer (16). */
  alive(): void {
    if (this.#isOpen && !this.#isAtRest) this.#sendText(ALIVE, 0);
  }

  /** The packets of the answered frame that the server has taken; `undefined` if the reply answers no frame. */
  answered(receipt: Receipt): OutgoingFrame | undefined {
    const frame = this.#outstanding;
    const { clock, taken = frame?.packets.length ?? 0, more } = receipt;
    if (frame === undefined || taken > frame.packets.length) return undefined;
    this.#outstanding = undefined;
    if (this.#offer === ASK ? receipt.extensions !== undefined : taken > 0) this.#offer = '';
    this.#replyAlarm.clear();
    const { memory } = this.#ports;
    if (clock !== undefined && clock > (memory.clock ?? '')) memory.clock = clock;
    this.#more = more;
    this.#slowDown(more && receipt.isEmpty && taken === 0);
    this.#schedule();
    this.queue.giveBack(frame.packets.slice(taken));
    // While more is waiting, the server lets packets wait as well.
    this.#notTaken = taken === 0 && frame.packets.length > 0 ? (more ? 0 : this.#notTaken) + 1 : 0;
    if (this.#notTaken >= NOT_TAKEN_MAX) this.#ports.fail(notTaken());
    return { packets: frame.packets.slice(0, taken) };
  }

  /** Ends everything. Outstanding frames are of unknown fate, and the transport does not send them again (6). */
  stop(): void {
    const { memory } = this.#ports;
    const lost = this.#outstanding;
    // A handler may still be at work on the publish that went out of turn, or on the one whose reply is missing.
    this.#quiet = Number(this.#quietAlarm.isSet);
    if (this.#quietAlarm.isSet) memory.holdPublish = true;
    if (lost !== undefined && frameHas(lost, PacketType.PUBLISH, PacketType.PUBREL))
      memory.holdPublish = true;
    this.#isOpen = false;
    for (const alarm of this.#alarms) alarm.clear();
  }

  /** Waits a moment, so that all packets that the library writes in one go leave in one frame. */
  #schedule(): void {
    if (this.#isFlushing || !this.#isOpen) return;
    this.#isFlushing = true;
    this.#timers.defer(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#isOpen || this.isWaiting || this.#quietAlarm.isSet) return;
    // The server takes these packets when the library has taken the messages that wait.
    if (this.#notTaken && (this.#isPaused || this.#fetchAlarm.isSet)) return;
    if (this.#isAtRest) return;
    if (this.#atRest !== undefined && !this.#more && !this.#isNudged) {
      this.#isAtRest = true;
      this.#atRest();
      return;
    }
    const frame =
      (this.#isNudged ? this.#fetch() : undefined) ??
      this.queue.takeFrame(this.#ports.memory.holdPublish) ??
      (this.#confirms && this.queue.hasAcknowledgements
        ? this.queue.takeAcknowledgementFrame()
        : this.#fetch());
    if (frame !== undefined && !this.#ports.closes(frame)) this.#send(frame);
  }

  #fetch(): OutgoingFrame | undefined {
    if (!(this.#more || this.#isNudged) || this.#isPaused || this.#fetchAlarm.isSet) return undefined;
    this.#isNudged = false;
    return this.queue.takeAcknowledgementFrame();
  }

  /** Fetching again at once would be a busy loop that AWS bills. */
  #slowDown(isInVain: boolean): void {
    this.#fetchAlarm.clear();
    this.#emptyFetches = isInVain ? this.#emptyFetches + 1 : 0;
    if (!isInVain) return;
    const waitMs = Math.min(EMPTY_FETCH_MS_MAX, EMPTY_FETCH_MS_MIN * 2 ** (this.#emptyFetches - 1));
    this.#fetchAlarm.set(waitMs, () => this.#schedule());
  }

  #send(frame: OutgoingFrame): void {
    const now = this.#timers.now();
    const isLone = !this.#confirms && isLoneQos0(frame) && this.queue.packetCount === 0;
    const needsNoReply = this.#rare.next(isLone, now);
    if (needsNoReply) {
      this.#quietAlarm.set(HANDLER_LIFE_MS, () => this.#schedule());
    } else {
      const { heartbeat, fail, settings } = this.#ports;
      this.#outstanding = frame;
      heartbeat.asked(now);
      this.#replyAlarm.set(settings.replyTimeoutMs, () => fail(noReply(settings.replyTimeoutMs)));
    }
    this.#write(frame, !needsNoReply);
  }

  #acknowledge(): void {
    if (this.#confirms) this.#schedule();
    while (!this.#confirms && this.queue.hasAcknowledgements) {
      this.#rare.next(false, this.#timers.now());
      this.#write(this.queue.takeAcknowledgementFrame(), false);
    }
  }

  #write(frame: OutgoingFrame, replyWanted: boolean): void {
    if (!this.queue.hasAcknowledgements) this.#acknowledgeAlarm.clear();
    const { memory, drained } = this.#ports;
    const text = encodeClientFrame(frame.packets, replyWanted, memory.clock, replyWanted ? this.#offer : '');
    this.#sendText(text, frame.packets.length);
    drained();
  }

  #sendText(text: string, packets: number): void {
    const { heartbeat, statistics, sendText } = this.#ports;
    countSent(statistics, text, packets);
    heartbeat.passed(this.#timers.now());
    sendText(text);
  }
}
