import { isSuccess, reAuthenticate, removeMethod } from './auth-packets.ts';
import { Alarm } from './environment.ts';
import { gatewayError, tokenExpired, tooMuchWaiting, unreadable } from './errors.ts';
import type { ExchangePorts } from './exchange-ports.ts';
import { decodeServerFrame } from './frame.ts';
import { Heartbeat } from './heartbeat.ts';
import { HoldBack } from './hold-back.ts';
import { DISCONNECT_CODE, FRAME_BYTES_MAX, KEPT_PACKET_ID_MAX } from './limits.ts';
import { Outbound } from './outbound.ts';
import { frameHas, isPlainDisconnect, type OutgoingFrame } from './outgoing-queue.ts';
import { byteAt, concat, PINGREQ, PINGRESP, packetIdOf, qosOf, splitPackets, typeOf } from './packet.ts';
import { PacketSplitter } from './packet-splitter.ts';
import * as PacketType from './packet-type.ts';
import { PartedReply, type Reply, type WholeReply } from './parted-reply.ts';
import { Renewal } from './renewal.ts';
import { BAD_AUTHENTICATION_METHOD, mayPass, SessionFacts } from './session-facts.ts';
import { countReceived } from './statistics.ts';
import { Unconfirmed } from './unconfirmed.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Translates between MQTT's bytes and text frames, for one connection. It knows nothing of sockets. */
export class Exchange {
  readonly #ports: ExchangePorts;
  readonly #splitter = new PacketSplitter();
  readonly #facts = new SessionFacts();
  readonly #holdBack = new HoldBack<Bytes>();
  #parted = new PartedReply();
  #unconfirmed = new Unconfirmed();
  /** Messages of the lost connection, kept until all messages that wait have come after a resume. */
  #again = new Unconfirmed();
  readonly #heartbeat: Heartbeat;
  readonly #heartbeatAlarm: Alarm;
  readonly #outbound: Outbound;
  readonly #renewal: Renewal;
  /** CONNECT as the library has written it. */
  #written: Uint8Array | undefined;
  #isConnected = false;
  #isOver = false;
  /** The library has written DISCONNECT: the close that follows waits until everything has been sent. */
  isLeaving = false;

  constructor(ports: ExchangePorts) {
    const { timers, heartbeatSeconds } = ports.settings;
    this.#ports = ports;
    this.#heartbeat = new Heartbeat(heartbeatSeconds, timers.now());
    this.#heartbeatAlarm = new Alarm(timers);
    this.#outbound = new Outbound({
      ...ports,
      heartbeat: this.#heartbeat,
      closes: (frame) => this.#closes(frame),
    });
    this.#renewal = new Renewal({ ...ports, show: (token) => this.#show(token) });
  }

  get outbound(): Pick<Outbound, 'confirm' | 'rest' | 'goOn' | 'stop'> {
    return this.#outbound;
  }

  /** The server does not send messages up to this QoS again after a loss. */
  get qosOfGap(): 0 | 1 {
    return this.#facts.dropsPuback ? 1 : 0;
  }

  /**
   * Goes on with the session over another connection after a loss; `reply` is the server's reply to it. Returns the QoS
   * 0 messages whose fate is unknown.
   */
  resumed(reply: Reply, token: string | undefined): number {
    this.moved(token);
    this.#handOverHeld(!this.#facts.isEphemeral);
    this.#parted = new PartedReply();
    this.#again = this.#unconfirmed;
    this.#unconfirmed = new Unconfirmed();
    const unknown = this.#outbound.resumed();
    this.#parted.setReply(reply);
    this.#replyWhenWhole();
    return unknown;
  }

  /** Goes on with the session over another connection, which was opened with this token. */
  moved(token: string | undefined): void {
    this.#heartbeat.asked(this.#ports.settings.timers.now());
    if (token === undefined) return;
    this.#renewal.admit(token);
    if (this.#facts.hasMethod || !this.#facts.isFive) this.#renewal.start();
  }

  get bytesWaiting(): number {
    return this.#outbound.queue.bytes;
  }

  get packetsWaiting(): number {
    return this.#outbound.queue.packetCount;
  }

  /** Notes the token of the handshake. */
  admit(token: string | undefined): void {
    this.#renewal.admit(token);
  }

  /**
   * The socket is open. `offer`: the extensions that the server may use; empty: the server reads no offer.
   *
   * @param handled CONNECT came with the handshake: 'accepted', or 'handled' if a reply brings its CONNACK
   */
  start(offer: string, handled?: 'accepted' | 'handled'): void {
    this.#outbound.start(offer, handled);
    const connack = this.#facts.ordinaryConnack;
    if (handled === 'accepted') this.#take(connack, [connack]);
  }

  pause(isPaused: boolean): void {
    this.#outbound.pause(isPaused);
  }

  /** Takes bytes that the library has written. */
  write(chunk: Uint8Array): void {
    for (const packet of this.#splitter.push(chunk)) {
      if (this.#isOver) return;
      if (packet.size > FRAME_BYTES_MAX) this.#ports.refused(packet);
      else this.#writePacket(packet.bytes);
    }
  }

  /** Reads a frame of the server. */
  receive(text: string): void {
    if (this.#isOver) return;
    countReceived(this.#ports.statistics, text);
    this.#heartbeat.passed(this.#ports.settings.timers.now());
    const frame = decodeServerFrame(text);
    switch (frame.kind) {
      case 'nothing':
        break;
      case 'nudge':
        this.#outbound.nudge();
        break;
      case 'unreadable':
        this.#misread(frame.why);
        break;
      case 'error':
        this.#ports.fail(gatewayError(frame.text));
        break;
      case 'push':
        this.#push(frame.bytes);
        break;
      case 'part':
        if (!this.#outbound.isWaiting) this.#misread('a part of no reply');
        else if (this.#parted.addPart(frame.bytes)) this.#replyWhenWhole();
        else this.#ports.fail(tooMuchWaiting());
        break;
      case 'reply':
        // The reply to a repeated frame of a move.
        if (frame.move !== undefined && frame.extensions === undefined && this.#isConnected) break;
        if (this.#parted.setReply(frame)) this.#replyWhenWhole();
        else this.#misread('a second reply');
        break;
    }
  }

  /** Sends a PINGREQ, unless an answer is awaited anyway. */
  probe(): void {
    const { isWaiting, queue } = this.#outbound;
    if (this.#isConnected && !this.#isOver && !isWaiting && queue.packetCount === 0)
      this.#outbound.add(PINGREQ);
  }

  /** The connection has ended. `handOver`: the library still listens, so it gets the packets that wait. */
  stop(handOver: boolean): void {
    if (handOver && this.#isConnected && !this.#isOver)
      this.#handOverHeld(this.#outbound.hasMore && !this.#facts.isEphemeral);
    this.#isOver = true;
    this.#heartbeatAlarm.clear();
    this.#renewal.stop();
    this.#outbound.stop();
  }

  #writePacket(packet: Uint8Array): void {
    const { settings, statistics, deliver } = this.#ports;
    switch (typeOf(packet)) {
      case PacketType.CONNECT:
        this.#written = packet;
        this.#connect(
          this.#facts.connect(packet, settings.heartbeatSeconds, this.#renewal.wantsMethod(packet)),
        );
        return;
      case PacketType.SUBSCRIBE:
        this.#facts.subscribe(packet);
        break;
      case PacketType.DISCONNECT:
        this.isLeaving = true;
        this.#ports.leaving();
        break;
      case PacketType.PUBACK:
        this.#unconfirmed.acknowledge(packetIdOf(packet));
        this.#again.acknowledge(packetIdOf(packet));
        if (!this.#facts.dropsPuback) break;
        statistics.pubacksDropped += 1;
        return;
      case PacketType.PINGREQ:
        statistics.pingsAnswered += 1;
        settings.timers.defer(() => deliver(PINGRESP.slice()));
        // Browsers slow our timers down, but not those of mqtt.js: they run in a worker.
        this.#look();
        return;
    }
    this.#outbound.add(packet);
  }

  #connect(packet: Uint8Array): void {
    this.#outbound.add(packet);
    this.#ports.connecting(this.#facts.mayShakeHands ? packet : undefined);
  }

  /**
   * Shows the new token with AUTH, which MQTT 5 has; in 3.1.1 only a connection can show one. True: the server will
   * answer.
   */
  #show(token: string): boolean {
    if (this.isLeaving || this.#isOver) return false;
    if (this.#facts.isFive) {
      this.#outbound.add(reAuthenticate(token));
      return true;
    }
    // Keeps the new token for the next connection: that begins at once if the session can move, otherwise when the old
    // token has expired.
    this.#ports.memory.token = token;
    this.#ports.move();
    return false;
  }

  #look(): void {
    if (!this.#isConnected || this.#isOver) return;
    const { due, againMs } = this.#heartbeat.look(this.#ports.settings.timers.now(), this.#facts.takesAlive);
    this.#heartbeatAlarm.set(againMs, () => this.#look());
    if (due === 'ping') this.probe();
    else if (due === 'alive') this.#outbound.alive();
  }

  #push(bytes: Bytes): void {
    const packets = splitPackets(bytes);
    // A CONNACK outside a reply comes from a server that refuses; every other CONNACK comes in the reply.
    const isConnack = packets?.some((packet) => typeOf(packet) === PacketType.CONNACK);
    if (packets === undefined) this.#misread('half a packet');
    else if (isConnack || this.#mayPass()) this.#take(bytes, packets);
    else if (!this.#holdBack.hold(bytes)) this.#ports.fail(tooMuchWaiting());
  }

  #replyWhenWhole(): void {
    const whole = this.#parted.take();
    if (whole === 'too-many') this.#misread('too many parts');
    else if (whole !== undefined) this.#reply(whole);
  }

  #reply({ reply, pieces }: WholeReply): void {
    const packets = pieces.map((piece) => splitPackets(piece));
    const isEmpty = packets.every((each) => each?.length === 0);
    const frame = packets.includes(undefined) ? undefined : this.#outbound.answered({ ...reply, isEmpty });
    if (frame === undefined) {
      this.#misread('half a packet, or a reply to no frame');
      return;
    }
    if (reply.extensions !== undefined) this.#facts.agree(reply.extensions);
    for (const [index, piece] of pieces.entries()) this.#take(piece, packets[index] ?? []);
    if (!reply.more) this.#again.clear();
    if (reply.move !== undefined && this.#isConnected) {
      const secret = reply.extensions === undefined ? '' : this.#ports.secret();
      this.#ports.mayMove(reply.move.replace(',', `${secret},`));
    }
    if (frameHas(frame, PacketType.DISCONNECT)) this.#finish();
    // The fetch brought nothing: the server may wait for the acknowledgement of held packets.
    const isInVain = this.#isConnected && isEmpty && reply.more && reply.taken === undefined;
    if (!this.#mayPass() && !isInVain) return;
    for (const push of this.#holdBack.release()) this.#take(push, splitPackets(push) ?? []);
  }

  /** Whether the transport may hand over pushes now (4). */
  #mayPass(): boolean {
    const isSubscribing = this.#outbound.isOutstanding(PacketType.SUBSCRIBE);
    return this.#isConnected && !this.#outbound.hasMore && !isSubscribing && !this.#parted.isUnderWay;
  }

  /** Hands packets over to the library, after the transport has read the facts that it needs. */
  #take(bytes: Bytes, packets: readonly Uint8Array[]): void {
    if (this.#isOver) return;
    const { statistics, deliver } = this.#ports;
    statistics.packetsReceived += packets.length;
    let isLast = false;
    const others: Uint8Array[] = [];
    for (const packet of packets) {
      const type = typeOf(packet);
      if (type === PacketType.DISCONNECT) isLast = true;
      if (type === PacketType.CONNACK && !this.#connack(packet)) isLast = true;
      const own = this.#forLibrary(packet);
      if (own !== undefined) others.push(own);
    }
    const isAsItCame = others.every((packet, index) => packet === packets[index]);
    if (others.length > 0) deliver(isAsItCame && others.length === packets.length ? bytes : concat(others));
    if (isLast && !this.#connectsAgain()) this.#finish();
  }

  /** A server that asks for no tokens has refused the transport's Authentication Method. */
  #connectsAgain(): boolean {
    const { memory, connectAgain } = this.#ports;
    if (this.#written === undefined || !this.#facts.hasMethod || !memory.isUnrenewable || this.isLeaving)
      return false;
    this.stop(false);
    connectAgain(this.#written);
    return true;
  }

  /** The packet as the library may see it: the library knows nothing of the transport's own packets and properties. */
  #forLibrary(packet: Uint8Array): Uint8Array | undefined {
    const type = typeOf(packet);
    // The library's own PINGREQ was answered long ago: this PINGRESP answers the transport's.
    if (type === PacketType.PINGRESP || this.#isKnown(packet)) return undefined;
    if (!this.#facts.hasMethod) return packet;
    if (type === PacketType.CONNACK)
      return this.#ports.memory.isUnrenewable ? undefined : removeMethod(packet);
    if (type !== PacketType.AUTH) return packet;
    if (isSuccess(packet)) this.#renewal.taken();
    return undefined;
  }

  /**
   * The library got this message on a connection that was lost: the transport hands it over no second time, and
   * acknowledges it at most once more.
   */
  #isKnown(packet: Uint8Array): boolean {
    if (typeOf(packet) !== PacketType.PUBLISH || qosOf(packet) !== 1) return false;
    const packetId = packetIdOf(packet);
    if (packetId > KEPT_PACKET_ID_MAX) return false;
    const isAcknowledged = this.#again.get(packetId);
    this.#again.delete(packetId);
    this.#unconfirmed.deliver(packetId);
    if (isAcknowledged === undefined || !(byteAt(packet, 0) & 8)) return false;
    if (isAcknowledged) {
      this.#unconfirmed.acknowledge(packetId);
      this.#outbound.add(Uint8Array.of(0x40, 2, packetId >> 8, packetId & 255));
    }
    return true;
  }

  #connack(packet: Uint8Array): boolean {
    const { hasMethod, isFive } = this.#facts;
    const code = this.#facts.connack(packet);
    if (code !== 0) {
      if (mayPass(code)) this.#ports.comeBack();
      if (code === BAD_AUTHENTICATION_METHOD && hasMethod) this.#renewal.giveUp();
      else if (this.#renewal.hasEnded) this.#ports.fail(tokenExpired());
      return false;
    }
    this.#isConnected = true;
    if (hasMethod || !isFive) this.#renewal.start();
    if (this.#facts.serverKeepAliveSeconds) this.#heartbeat.shorten(this.#facts.serverKeepAliveSeconds);
    this.#look();
    this.#outbound.connected();
    this.#ports.connected();
    return true;
  }

  /**
   * Packets that wait when the connection ends would be lost, unless the session keeps them and the older messages
   * before them.
   */
  #handOverHeld(keepsOlder: boolean): void {
    for (const push of this.#holdBack.release()) {
      const packets = splitPackets(push) ?? [];
      const wanted = keepsOlder
        ? packets.filter((packet) => typeOf(packet) === PacketType.DISCONNECT)
        : packets;
      if (wanted.length > 0) this.#ports.deliver(concat(wanted));
    }
  }

  #misread(why: string): void {
    this.#ports.fail(unreadable(why));
  }

  /** A DISCONNECT with neither a reason nor properties needs no frame if its loss does no harm (14). */
  #closes(frame: OutgoingFrame): boolean {
    const isSaidByClose = this.#facts.mayEndByClose && isPlainDisconnect(frame);
    if (isSaidByClose) this.#finish(DISCONNECT_CODE);
    return isSaidByClose;
  }

  #finish(code = 1000): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ports.finished(code);
  }
}
