import { addMethod } from './auth-packets.ts';
import { HANDSHAKE_BYTES_MAX, IDLE_SECONDS_MAX } from './limits.ts';
import { bodyOf, byteAt, uint16At } from './packet.ts';
import { propertiesAt } from './properties.ts';
import * as PropertyId from './property-id.ts';

const MQTT_5 = 5;
const CLEAN = 0x02;
const WILL = 0x04;
const SHARED = '$share/';

export const BAD_AUTHENTICATION_METHOD = 0x8c;

/**
 * Reason codes after which a client may try again: Server unavailable in MQTT 3.1.1; in MQTT 5 also Server busy, Server
 * shutting down, Quota exceeded and Connection rate exceeded.
 */
const PASSING: readonly number[] = [3, 0x88, 0x89, 0x8b, 0x97, 0x9f];

/** Whether another attempt may succeed after a CONNACK with this code. */
export function mayPass(code: number): boolean {
  return PASSING.includes(code);
}

/**
 * The facts that a transport reads in the packets that pass: whether PUBACKs are needed, and how long it may be silent.
 */
export class SessionFacts {
  #version = 0;
  #isEphemeral = false;
  #hasWill = false;
  #hasSharedSubscription = false;
  #takesClose = false;
  /** The server takes signs of life (16). */
  takesAlive = false;
  /** CONNECT left with the transport's own Authentication Method (11). */
  hasMethod = false;
  /** Set by CONNACK: a number is the Server Keep Alive of the server. */
  serverKeepAliveSeconds: number | undefined;

  /** The server keeps no QoS 1 messages for the session, so the client need not acknowledge any (5). */
  get dropsPuback(): boolean {
    return this.#isEphemeral && !this.#hasSharedSubscription;
  }

  /** A message that is not handed over on this connection does not come again on the next. */
  get isEphemeral(): boolean {
    return this.#isEphemeral;
  }

  /** The server takes DISCONNECT in the close, and the loss of a DISCONNECT does no harm (14). */
  get mayEndByClose(): boolean {
    return this.#takesClose && !this.#hasWill;
  }

  /** Reads which of the offered extensions the server takes. */
  agree(extensions: string): void {
    this.#takesClose = extensions.includes('close');
    this.takesAlive = extensions.includes('alive');
  }

  /** The client may send CONNECT with the handshake (15). */
  mayShakeHands = false;

  /** The accepting CONNACK, for a server that need not send it (15). */
  get ordinaryConnack(): Uint8Array<ArrayBuffer> {
    return this.isFive
      ? Uint8Array.of(0x20, 11, 0, 0, 8, 0x21, 4, 0, 0x27, 0, 0, 0x5f, 0xfd)
      : Uint8Array.of(0x20, 2, 0, 0);
  }

  /** Whether the version of MQTT has AUTH. */
  get isFive(): boolean {
    return this.#version === MQTT_5;
  }

  /**
   * Reads CONNECT and sets its Keep Alive to the longest time between two frames (5). Returns it, with the
   * Authentication Method if one is wanted.
   */
  connect(packet: Uint8Array, heartbeatSeconds: number, wantsMethod: boolean): Uint8Array {
    const nameAt = bodyOf(packet);
    const versionAt = nameAt + 2 + uint16At(packet, nameAt);
    this.#version = byteAt(packet, versionAt);
    const keepAliveSeconds = Math.min(heartbeatSeconds, IDLE_SECONDS_MAX);
    packet[versionAt + 2] = keepAliveSeconds >> 8;
    packet[versionAt + 3] = keepAliveSeconds & 255;
    const flags = byteAt(packet, versionAt + 1);
    this.#isEphemeral = (flags & CLEAN) !== 0;
    this.#hasWill = (flags & WILL) !== 0;
    this.mayShakeHands = this.#isEphemeral && !this.#hasWill && packet.length < HANDSHAKE_BYTES_MAX;
    if (!this.isFive) return packet;
    const { values } = propertiesAt(packet, versionAt + 4);
    if (values.get(PropertyId.SESSION_EXPIRY_INTERVAL) || values.has(PropertyId.RECEIVE_MAXIMUM)) {
      this.#isEphemeral = false;
    }
    // A program with an Authentication Method of its own authenticates by itself.
    const hasOwn = values.has(PropertyId.AUTHENTICATION_METHOD);
    this.hasMethod = wantsMethod && !hasOwn;
    this.mayShakeHands &&= !hasOwn;
    return this.hasMethod ? addMethod(packet, versionAt + 4) : packet;
  }

  /** Looks for filters of shared subscriptions: their messages must be acknowledged. */
  subscribe(packet: Uint8Array): void {
    let at = bodyOf(packet) + 2;
    if (this.isFive) at = propertiesAt(packet, at).end;
    while (at < packet.length) {
      const length = uint16At(packet, at);
      if (String.fromCharCode(...packet.subarray(at + 2, at + 2 + SHARED.length)) === SHARED) {
        this.#hasSharedSubscription = true;
      }
      at += 2 + length + 1;
    }
  }

  /** Reads CONNACK and returns its code: above 0 the server refuses. */
  connack(packet: Uint8Array): number {
    const at = bodyOf(packet);
    if (this.isFive) {
      this.serverKeepAliveSeconds = propertiesAt(packet, at + 2).values.get(PropertyId.SERVER_KEEP_ALIVE);
    }
    return byteAt(packet, at + 1);
  }
}
