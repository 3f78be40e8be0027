import type { FrameWork } from '../frames.ts';
import { pushBytes } from '../publishing.ts';
import type { Fleet } from './fleet.ts';
import { bufferWrites, type MessagesAway } from './messages-away.ts';
import { reconnectWaitMs } from './reconnect-waits.ts';
import {
  acknowledgeUse,
  BUFFER_READS,
  CONNACK_BYTES,
  CONNECT_USE,
  connectKeptUse,
  END_LOST_USE,
  HANDSHAKE_USE,
  KEPT_LOSS_USE,
  LOSS_USE,
  RESUME_USE,
  RESUMED_BYTES,
  SUBACK_BYTES,
  SUBSCRIBE_USE,
} from './uses.ts';

/** Messages that wait for a persistent session; above it the oldest are dropped (packages/broker/src/model/limits.ts). */
export const QUEUE_MESSAGES_MAX = 1_000;

/** Reads and a write for a message to a persistent session whose client is away (loadtest/results/operations.md). */
const KEEP_READS = 3;
const KEEP_WRITES = 1;

/** One client, from the cut until messages reach it again. */
export class ReturningClient {
  /** Handshakes so far. */
  tries = 0;
  backAtMs = Number.POSITIVE_INFINITY;
  /** When the server handled the frame that makes messages reach it. */
  servedAtMs = Number.POSITIVE_INFINITY;
  isResumed = false;
  messagesLost = 0;
  /** The server has reported that messages are missing. */
  isToldGap = false;
  readonly messages: MessagesAway;
  readonly #fleet: Fleet;
  /** Whether the server has received CONNECT on the present connection. */
  #isConnected = false;

  constructor(fleet: Fleet, messages: MessagesAway) {
    this.#fleet = fleet;
    this.messages = messages;
  }

  comeBack(): void {
    this.#wait();
  }

  #wait(): void {
    const { loop, random } = this.#fleet.model;
    const waitMs = reconnectWaitMs(this.tries + 1, this.#fleet.rule, () => random.next());
    loop.after(waitMs, () => this.#open());
  }

  #open(): void {
    const { model, frames } = this.#fleet;
    this.tries += 1;
    if (!model.account.newConnections.take(model.loop.nowMs)) {
      this.#fleet.handshakesRefused += 1;
      this.#refused();
      return;
    }
    frames.receive({
      kind: 'handshake',
      use: HANDSHAKE_USE,
      replyBytes: 0,
      onEnd: (isOpen) => {
        if (isOpen) this.#begin();
        else this.#wait();
      },
    });
  }

  #refused(): void {
    const { loop, random, times } = this.#fleet.model;
    loop.after(random.latency(times.gatewayHop), () => this.#wait());
  }

  #begin(): void {
    const { way, model, resumeMs } = this.#fleet;
    this.#isConnected = false;
    if (way === 'kept session') this.#connectKept();
    else if (way === 'resume' && model.loop.nowMs < resumeMs) this.#resume();
    else this.#connect();
  }

  /** CONNECT, then SUBSCRIBE: earlier messages are lost. */
  #connect(): void {
    const subscribe: FrameWork = { use: SUBSCRIBE_USE, replyBytes: SUBACK_BYTES };
    this.#send({ use: CONNECT_USE, replyBytes: CONNACK_BYTES }, () => {
      this.#isConnected = true;
      this.#send(subscribe, (handledAtMs) => {
        this.#endLostSession();
        this.#back(handledAtMs, this.messages.until(handledAtMs));
      });
    });
  }

  /** CONNECT dequeues the waiting messages; another frame acknowledges them. */
  #connectKept(): void {
    const { loop } = this.#fleet.model;
    const waiting = Math.min(QUEUE_MESSAGES_MAX, this.messages.until(loop.nowMs));
    const connect = { use: connectKeptUse(waiting), replyBytes: CONNACK_BYTES + this.#bytesOf(waiting) };
    this.#send(connect, (connectedAtMs) => {
      this.#isConnected = true;
      const sent = this.messages.until(connectedAtMs);
      const back = () => {
        this.#fleet.bill(sent * KEEP_READS, sent * KEEP_WRITES);
        this.#back(connectedAtMs, Math.max(0, sent - QUEUE_MESSAGES_MAX));
      };
      if (waiting === 0) back();
      else this.#send({ kind: 'acknowledgement', use: acknowledgeUse(waiting), replyBytes: 0 }, back);
    });
  }

  /**
   * One frame, which the server accepts within the session's grace period. After that the client connects like others.
   */
  #resume(): void {
    const { model, resumeMs, capacity } = this.#fleet;
    const kept = Math.min(capacity, this.messages.until(model.loop.nowMs));
    const resume = { use: RESUME_USE, replyBytes: RESUMED_BYTES + this.#bytesOf(kept) };
    this.#send(resume, (handledAtMs) => {
      if (handledAtMs >= resumeMs) {
        this.#connect();
        return;
      }
      const sent = this.messages.until(handledAtMs);
      this.#billBuffer(sent);
      this.isResumed = true;
      this.isToldGap = sent > capacity;
      this.#back(handledAtMs, Math.max(0, sent - capacity));
    });
  }

  /**
   * Sends a frame. If it fails, the gateway has closed the connection or the frame's fate is unknown: the client tries
   * again.
   */
  #send(frame: FrameWork, then: (handledAtMs: number) => void): void {
    const { frames, model } = this.#fleet;
    let handledAtMs = 0;
    frames.receive({
      ...frame,
      work: (answer) => {
        handledAtMs = model.loop.nowMs;
        answer(true);
      },
      onEnd: (isAnswered) => {
        if (isAnswered) then(handledAtMs);
        else this.#lost();
      },
    });
  }

  #lost(): void {
    if (this.#isConnected) this.#fleet.lose(this.#fleet.way === 'kept session' ? KEPT_LOSS_USE : LOSS_USE);
    this.#wait();
  }

  #back(servedAtMs: number, messagesLost: number): void {
    this.servedAtMs = servedAtMs;
    this.backAtMs = this.#fleet.model.loop.nowMs;
    this.messagesLost = messagesLost;
  }

  /** The end of a session that could not be resumed, and the cost of keeping its messages. */
  #endLostSession(): void {
    const { way, resumeMs } = this.#fleet;
    if (way !== 'resume') return;
    this.#fleet.bill(END_LOST_USE.reads, END_LOST_USE.writes);
    this.#billBuffer(this.messages.until(resumeMs));
  }

  #billBuffer(sent: number): void {
    const { capacity, packetBytes } = this.#fleet;
    const kept = Math.min(sent, capacity);
    this.#fleet.bill(sent * BUFFER_READS, bufferWrites(kept, packetBytes));
  }

  #bytesOf(messages: number): number {
    return pushBytes(messages * this.#fleet.packetBytes);
  }
}
