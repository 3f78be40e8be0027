import { BinaryWire } from './binary-wire.ts';
import { Alarm } from './environment.ts';
import { closeAdvice, messageOf, TransportError, tooSlow, wrongSubprotocol } from './errors.ts';
import { Exchange } from './exchange.ts';
import { choiceOf, newSecret, PROTOCOLS, TEXT_PROTOCOLS, withConnect } from './handshake.ts';
import {
  ABNORMAL,
  ASK,
  CLOSING_MS,
  GIVEN_UP,
  HELD_BYTES_MAX,
  HOPELESS,
  IN_ORDER,
  STABLE_MS,
  STALE_MS,
  SUBPROTOCOL,
  WAITING_BYTES_HIGH,
} from './limits.ts';
import { Mover } from './mover.ts';
import { type MqttSocket, mqttSocket, ReadyState, type SocketEnd } from './mqtt-socket.ts';
import type { Settings, TransportEvent } from './options.ts';
import type { Memory } from './outbound.ts';
import { viewOf } from './packet.ts';
import type { SplitPacket } from './packet-splitter.ts';
import { watchPage } from './page.ts';
import type { Reply } from './parted-reply.ts';
import { SocketFaces } from './socket-faces.ts';
import type { Statistics } from './statistics.ts';
import { abandon, type GatewaySocket, newSocket, withToken } from './web-socket.ts';

export interface ConnectionPorts {
  readonly url: string;
  readonly webSocketOptions: object | undefined;
  /** The names of the extensions, for a server that reads an offer (10). */
  readonly offer: string;
  readonly settings: Settings;
  readonly memory: Memory;
  readonly statistics: Statistics;
  readonly report: (event: TransportEvent) => void;
  readonly refused: (packet: SplitPacket) => TransportError | undefined;
  /** CONNACK refuses for a reason that may pass: the library is to try again. */
  readonly comeBack: () => void;
  /** The connection has lived long enough to count as stable. */
  readonly stable: () => void;
  /** Notes that a connection begins. Returns how many milliseconds to wait before the next one. */
  readonly begin: () => number;
}

/** One WebSocket to the gateway and the socket that mqtt.js sees instead of it. */
export class Connection implements SocketEnd {
  readonly socket: MqttSocket;
  readonly #ports: ConnectionPorts;
  readonly #faces: SocketFaces;
  #exchange: Exchange;
  #mover: Mover;
  /** Undefined: the server has chosen text frames. */
  #binary: BinaryWire | undefined;
  readonly #closingAlarm: Alarm;
  readonly #stableAlarm: Alarm;
  #webSocket: GatewaySocket | undefined;
  /** The token of the socket that was opened last. */
  #token: string | undefined;
  #unwatch: () => void = () => {};
  #sent: ((error?: Error) => void)[] = [];
  #heardAt = 0;
  #socketError: unknown;
  /** The CONNECT packet, once the library has written it. Undefined: CONNECT has to leave in a frame. */
  #connect: Promise<Uint8Array | undefined>;
  /**
   * The secret of the ticket. The server sends it behind a dot in the subprotocol if CONNECT came with the handshake.
   */
  #secret = '';
  #hasOpened = false;
  /** The close code of the connection that was lost last. */
  #lostBy = 0;
  readyState: number = ReadyState.CONNECTING;

  constructor(ports: ConnectionPorts) {
    const { timers } = ports.settings;
    this.#ports = ports;
    this.#faces = new SocketFaces(timers);
    this.#closingAlarm = new Alarm(timers);
    this.#stableAlarm = new Alarm(timers);
    this.#binary = new BinaryWire({
      timers,
      connected: () => this.#connected(),
      comeBack: ports.comeBack,
      deliver: (bytes) => this.#deliver(bytes),
      drained: () => this.#drained(),
    });
    [this.#connect, this.#exchange, this.#mover] = this.#session();
    this.socket = mqttSocket(this.#faces, this);
  }

  /** The parts that know a session: its CONNECT, what is exchanged, and its moves. */
  #session(): [Promise<Uint8Array | undefined>, Exchange, Mover] {
    const { settings, memory, statistics, report, comeBack, begin } = this.#ports;
    let connecting: (connect: Uint8Array | undefined) => void = () => {};
    const connect = new Promise<Uint8Array | undefined>((resolve) => {
      connecting = resolve;
    });
    const exchange = new Exchange({
      settings,
      memory,
      statistics,
      report,
      sendText: (text) => this.#webSocket?.send(text),
      connecting,
      secret: () => this.#secret,
      deliver: (bytes) => this.#deliver(bytes),
      connected: () => this.#connected(),
      drained: () => this.#drained(),
      refused: (packet) => this.#refused(packet),
      finished: (code) => this.#closeSocket(code),
      connectAgain: (packet) => this.#connectAgain(packet),
      comeBack,
      fail: (error) => this.#fail(error),
      mayMove: (move) => this.#mover.plan(move),
      move: () => this.#mover.begin(),
      leaving: () => this.#mover.leave(),
    });
    const mover = new Mover({
      settings,
      statistics,
      report,
      outbound: exchange.outbound,
      open: (opens) => this.#newSocket(opens),
      moved: (...moved) => this.#moved(...moved),
      resumed: (...resumed) => this.#resumed(...resumed),
      retryMs: begin,
      giveUp: () => this.#end(this.#lostBy, '', true),
      fail: (error) => this.#fail(error),
    });
    return [connect, exchange, mover];
  }

  get bufferedAmount(): number {
    if (this.readyState === ReadyState.CLOSED) return 0;
    return this.#exchange.bytesWaiting + (this.#webSocket?.bufferedAmount ?? 0);
  }

  async open(): Promise<void> {
    try {
      await this.#newSocket((webSocket) => {
        this.#webSocket = webSocket;
      }, true);
    } catch (cause) {
      this.#fail(new TransportError('cannot-open', `No WebSocket: ${messageOf(cause)}`, cause));
    }
  }

  /** Opens no socket if the connection has ended meanwhile. */
  async #newSocket(opens: (webSocket: GatewaySocket) => void, isFirst = false): Promise<void> {
    const { settings, statistics, memory, url, webSocketOptions } = this.#ports;
    const WebSocket = await settings.webSocketClass();
    const token = memory.token ?? (await settings.token?.());
    memory.token = undefined;
    const fullUrl = await settings.signUrl(withToken(url, settings.tokenParameter, token));
    if (this.#isClosed()) return;
    this.#token = token;
    const protocols = isFirst ? await this.#handshake() : TEXT_PROTOCOLS;
    if (this.#isClosed()) return;
    const webSocket = newSocket(WebSocket, fullUrl, [...protocols], webSocketOptions);
    statistics.connections += 1;
    opens(webSocket);
    this.#listen(webSocket);
  }

  /** The library opens its socket and writes CONNECT, which may come with the handshake (15). */
  async #handshake(): Promise<readonly string[]> {
    const { memory, offer } = this.#ports;
    this.#exchange.admit(this.#token);
    if (this.readyState === ReadyState.CONNECTING) {
      this.readyState = ReadyState.OPEN;
      this.#faces.open();
    }
    const connect = await this.#connect;
    if (connect === undefined || memory.sparesHandshake) return PROTOCOLS;
    const secret = newSecret();
    this.#secret = `.${secret}`;
    return [...withConnect(connect, secret, offer), ...PROTOCOLS];
  }

  /** Never throws: after the end the transport drops the data, as any socket does. */
  write(data: ArrayBuffer | ArrayBufferView, sent: (error?: Error) => void): void {
    if (this.#isClosed()) {
      this.#ports.settings.timers.defer(() => sent(new Error('The socket is closed')));
      return;
    }
    const bytes = viewOf(data);
    this.#sent.push(sent);
    this.#binary?.write(bytes);
    if (!this.#binary?.isOpen) this.#exchange.write(bytes);
    this.#drained();
  }

  pause(isPaused: boolean): void {
    this.#exchange.pause(isPaused);
    this.#binary?.pause(isPaused);
    this.#faces.pause(isPaused);
  }

  close(): void {
    if (this.readyState >= ReadyState.CLOSING) return;
    if (this.#binary?.isOpen) this.#closeSocket(1000);
    else if (this.#exchange.isLeaving) this.readyState = ReadyState.CLOSING;
    else this.terminate();
  }

  terminate(): void {
    this.#end(1000, '', false);
  }

  #listen(webSocket: GatewaySocket): void {
    const mover = this.#mover;
    webSocket.addEventListener('open', () => {
      if (mover.isOf(webSocket)) mover.opened();
      else this.#opened(webSocket);
    });
    webSocket.addEventListener('message', ({ data }) => {
      // Binary data between text frames is treated as a frame with an unknown marker.
      const text = typeof data === 'string' ? data : '(binary)';
      if (typeof data !== 'string' && this.#binary?.isOpen) this.#binary.receive(data as ArrayBuffer);
      else if (mover.isOf(webSocket)) mover.received(text);
      else if (webSocket === this.#webSocket) this.#received(text);
    });
    webSocket.addEventListener('error', (event) => {
      if (webSocket !== this.#webSocket) return;
      this.#socketError = event.error ?? event;
      // Node.js 22 sends no 'close' event for a handshake that failed; other platforms send it at once.
      if (!this.#hasOpened) this.#ports.settings.timers.defer(() => this.#lost(ABNORMAL, ''));
    });
    webSocket.addEventListener('close', ({ code, reason }) => {
      if (
        mover.isOf(webSocket)
          ? !mover.closed(code)
          : webSocket === this.#webSocket && !mover.hasClosedOld(code)
      )
        this.#lost(code, reason);
    });
  }

  #moved(frames: readonly string[], more: boolean, webSocket: GatewaySocket): void {
    this.#webSocket = webSocket;
    this.#exchange.moved(this.#token);
    for (const frame of frames) this.#received(frame);
    this.#exchange.outbound.goOn(more);
  }

  #resumed(reply: Reply, frames: readonly string[], hasGap: boolean, webSocket: GatewaySocket): void {
    const { report } = this.#ports;
    this.#webSocket = webSocket;
    const published = this.#exchange.resumed(reply, this.#token);
    for (const frame of frames) this.#received(frame);
    this.#stableAlarm.set(STABLE_MS, this.#ports.stable);
    report({ type: 'resumed' });
    const { qosOfGap } = this.#exchange;
    // A session that survives the connection keeps no QoS 0 messages.
    const qos = hasGap || qosOfGap === 0 ? qosOfGap : undefined;
    if (qos !== undefined || published > 0) report({ type: 'gap', qos, published });
  }

  /**
   * Handles the loss of the connection. True: the session goes on over another connection, or the transport gives it up
   * later.
   */
  #resumes(code: number, why: string, webSocket?: GatewaySocket): boolean {
    const mayResume = this.readyState === ReadyState.OPEN && !this.#exchange.isLeaving;
    if (!mayResume || HOPELESS.includes(code) || this.#mover.isResuming) return false;
    if (!this.#mover.resume(IN_ORDER.includes(code))) return false;
    this.#lostBy = code;
    this.#webSocket = undefined;
    this.#socketError = undefined;
    this.#stableAlarm.clear();
    abandon(webSocket, GIVEN_UP, '');
    this.#ports.report({ type: 'resuming', code, why });
    return true;
  }

  #lost(code: number, reason: string): void {
    // A proxy on the way may have refused the long header.
    if (!this.#hasOpened) this.#ports.memory.sparesHandshake = this.#secret !== '';
    if (this.#isClosed() || this.#resumes(code, closeAdvice(code), this.#webSocket)) return;
    this.#webSocket = undefined;
    if (this.#socketError !== undefined) this.#faces.error(this.#socketError);
    this.#end(code, reason, true);
  }

  #opened({ protocol }: GatewaySocket): void {
    if (this.#isClosed()) return;
    const choice = choiceOf(protocol);
    if (choice === undefined) {
      this.#fail(wrongSubprotocol(protocol));
      return;
    }
    const { settings, memory } = this.#ports;
    this.#hasOpened = true;
    if (choice === 'binary') {
      memory.sparesHandshake = true;
      [this.#connect, this.#exchange, this.#mover] = this.#session();
      this.#binary?.open(this.#webSocket);
      return;
    }
    this.#binary = undefined;
    this.#heardAt = settings.timers.now();
    const probe = (): void => {
      if (this.#mover.isResuming) this.#mover.hurry();
      else this.#exchange.probe();
    };
    this.#unwatch = watchPage(settings.page, probe, () => {
      if (Math.abs(settings.timers.now() - this.#heardAt) > STALE_MS) probe();
    });
    if (choice === 'frames') {
      this.#secret = '';
      this.#exchange.start(protocol === SUBPROTOCOL ? '' : this.#ports.offer);
    } else this.#exchange.start(ASK, choice);
  }

  #received(text: string): void {
    if (this.#isClosed()) return;
    this.#heardAt = this.#ports.settings.timers.now();
    this.#exchange.receive(text);
  }

  #deliver(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#isClosed()) return;
    this.#faces.message(bytes);
    if (this.#faces.bytesWaiting > HELD_BYTES_MAX) this.#fail(tooSlow());
  }

  #connected(): void {
    this.#stableAlarm.set(STABLE_MS, this.#ports.stable);
    this.#ports.report({ type: 'connected' });
  }

  #drained(): void {
    if (this.#exchange.bytesWaiting >= WAITING_BYTES_HIGH || this.#binary?.isFull()) return;
    for (const sent of this.#sent.splice(0)) sent();
  }

  #refused(packet: SplitPacket): void {
    const fatal = this.#ports.refused(packet);
    if (fatal !== undefined) this.#fail(fatal);
  }

  /** Writes CONNECT over another socket, which the library does not see. */
  #connectAgain(packet: Uint8Array): void {
    const { memory } = this.#ports;
    this.#mover.stop();
    this.#unwatch();
    abandon(this.#webSocket, GIVEN_UP, '');
    this.#webSocket = undefined;
    this.#socketError = undefined;
    this.#hasOpened = false;
    memory.token = this.#token;
    [this.#connect, this.#exchange, this.#mover] = this.#session();
    this.#exchange.write(packet);
    void this.open();
  }

  /** Everything is sent and answered. The library is told when the server has closed too, or after a short wait. */
  #closeSocket(code: number): void {
    this.readyState = ReadyState.CLOSING;
    this.#binary?.flush();
    this.#webSocket?.close(code);
    this.#closingAlarm.set(CLOSING_MS, () => this.#end(1000, '', true));
  }

  #fail(error: TransportError): void {
    if (this.#isClosed()) return;
    const { code, message } = error;
    const isOfNetwork = code === 'no-reply' || code === 'gateway-error';
    if (isOfNetwork && this.#resumes(GIVEN_UP, message, this.#webSocket)) return;
    this.#ports.report({ type: 'error', error });
    this.#end(GIVEN_UP, error.code, true);
  }

  #end(code: number, reason: string, handOver: boolean): void {
    if (this.#isClosed()) return;
    const { settings, report } = this.#ports;
    const packetsUnsent = this.#exchange.packetsWaiting;
    this.#mover.stop();
    this.#exchange.stop(handOver);
    this.#binary?.stop();
    this.readyState = ReadyState.CLOSED;
    this.#closingAlarm.clear();
    this.#stableAlarm.clear();
    this.#unwatch();
    abandon(this.#webSocket, code, reason);
    report({ type: 'closed', code, reason, advice: closeAdvice(code), packetsUnsent });
    settings.timers.defer(() => {
      for (const sent of this.#sent.splice(0)) sent(new Error('The socket is closed'));
      this.#faces.close(code, reason);
    });
  }

  #isClosed(): boolean {
    return this.readyState === ReadyState.CLOSED;
  }
}
