import type { TransportEvent } from '@apus/client';
import { fromConnackReturnCode, isFailure, isPassing, reasonCodeName } from '@apus/mqtt';
import type { MqttClient } from 'mqtt';
import { reasonOf } from './client-flags.ts';
import { CommandError } from './command.ts';
import { type HandshakeRefusal, refusalText, type SocketEvents } from './explaining-web-socket.ts';

/** Statuses of a refused handshake that no later attempt changes. */
const UNAUTHORIZED = [401, 403];

/** mqtt.js has to be given an error for a message that is not to be acknowledged, and emits it. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

/**
 * Finds out why a connection ends. mqtt.js tells it in several places: DISCONNECT, a CONNACK that refuses, the WebSocket
 * and its handshake, the transport of the gateway door.
 */
export class ConnectionWatch implements SocketEvents {
  /** Rejects when the command has to end: another connection is not wanted, or would not help. */
  readonly failed: Promise<never>;
  refusal: HandshakeRefusal | undefined;
  /** The command itself ends the connection. */
  isEnding = false;
  readonly #mayReconnect: boolean;
  #reject: (error: CommandError) => void = () => {};
  /** Of MQTT. Undefined: the client has never been connected. */
  #version: number | undefined;
  /** The reason that the broker, mqtt.js or the transport gives. */
  #why: string | undefined;
  /** The close of the WebSocket. */
  #close: string | undefined;
  #said: string | undefined;

  constructor(mayReconnect: boolean) {
    this.#mayReconnect = mayReconnect;
    this.failed = new Promise((_resolve, reject) => {
      this.#reject = reject;
    });
    // It may reject before the command waits for it.
    this.failed.catch(() => {});
  }

  /** The client has connected for the first time. */
  begin(client: MqttClient): void {
    this.#version = client.options.protocolVersion;
    this.#forget();
    client.on('connect', () => this.#forget());
    client.on('disconnect', ({ reasonCode = 0, properties }) => {
      const reason = properties?.reasonString;
      this.#ended(`${reasonCodeName(reasonCode)}${reason === undefined ? '' : `: ${reason}`}`, reasonCode);
    });
    client.on('error', (error) => this.#failedBy(error));
    client.on('close', () => {
      if (this.isEnding) return;
      const why = this.#reason();
      if (this.#mayReconnect) this.#say(`the connection was lost: ${why}; trying again.`);
      else this.#end(why);
      this.#why = undefined;
      this.#close = undefined;
    });
  }

  refused(refusal: HandshakeRefusal): void {
    this.refusal = refusal;
    this.#why = refusalText(refusal);
    if (this.#version !== undefined && UNAUTHORIZED.includes(refusal.status)) this.#end(this.#why);
  }

  closed(code: number, reason: string): void {
    this.#close = `WebSocket close ${code}${reason === '' ? '' : `, ${reason}`}`;
  }

  /** An event of the gateway door's transport. */
  told(event: TransportEvent): void {
    if (event.type === 'gap') this.#say('the connection was lost for a moment; messages may be missing.');
    if (event.type !== 'closed') return;
    this.closed(event.code, event.advice);
    if (event.packetsUnsent > 0 && !this.#mayReconnect && this.#version !== undefined)
      this.#end(this.#reason());
  }

  #failedBy(error: Error): void {
    if (error instanceof NotTaken) return;
    const text = reasonOf(error);
    const { code } = error as { readonly code?: unknown };
    if (typeof code === 'number') {
      this.#ended(text, this.#version === 5 ? code : (fromConnackReturnCode(code) ?? code));
      return;
    }
    this.#why ??= text;
    if (this.#mayReconnect) return;
    if (code === 'packet-too-large') this.#reject(new CommandError(text));
    // A broker that has read DISCONNECT may cut the connection.
    else if (!this.isEnding || error.name === 'TransportError') this.#end(text);
  }

  #reason(): string {
    if (this.#why !== undefined) return this.#why;
    // Below MQTT 5 a broker that ends a connection gives no reason.
    return `${this.#close ?? 'it broke'}${this.#version === 5 ? '' : ' (in MQTT 5 the broker would say why)'}`;
  }

  /** The broker gives a Reason Code for the end. */
  #ended(why: string, reasonCode: number): void {
    this.#why = why;
    if (!this.#mayReconnect || (isFailure(reasonCode) && !isPassing(reasonCode))) this.#end(why);
  }

  #end(why: string): void {
    this.#reject(new CommandError(`The connection has ended: ${why.replace(/\.$/, '')}.`));
  }

  /** Once, however many attempts fail for the same reason. */
  #say(text: string): void {
    if (text !== this.#said) console.error(`apus: ${text}`);
    this.#said = text;
  }

  #forget(): void {
    this.#why = undefined;
    this.#close = undefined;
    this.#said = undefined;
  }
}
