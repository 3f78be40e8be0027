import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { readEmptyResponse } from './empty-response.ts';
import { type HttpResponse, readResponse } from './response.ts';

/** The outcome of a request. */
export type HttpOutcome =
  | HttpResponse
  /** The request never left. */
  | 'unsent'
  /** The request left, and no answer came: it is unknown whether it was handled. */
  | 'unanswered';

/** State that TLS handshakes with one server share: it saves a third of their CPU. */
export interface TlsMemory {
  readonly secureContext: SecureContext;
  /** The session of the last one. */
  session?: Buffer;
}

export interface HttpTarget {
  /** Undefined: without TLS. */
  readonly tls: TlsMemory | undefined;
  readonly hostname: string;
  readonly port: number;
  /** A request that takes longer, from its connection to its answer, is given up. */
  readonly timeoutMs: number;
}

/**
 * One connection to a server of HTTP/1.1: one request at a time, written in one piece. Node.js's own client takes
 * several times the CPU for a post.
 */
export class HttpSocket {
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;
  readonly #onFree: (socket: HttpSocket) => void;
  #isConnected = false;
  #isOver = false;
  #done: ((outcome: HttpOutcome) => void) | undefined;
  #request = '';
  #received = '';
  /** Since when the socket is unused. The pool of sockets sets it. */
  freeSinceMs = 0;

  constructor(target: HttpTarget, onFree: (socket: HttpSocket) => void) {
    this.#onFree = onFree;
    this.#socket = open(target, (bytes, length) => this.#receive(bytes, length));
    this.#socket.setNoDelay(true);
    this.#socket.once(target.tls !== undefined ? 'secureConnect' : 'connect', () => this.#connected());
    this.#socket.on('end', () => this.#read('', true));
    // The error does not matter: 'close' follows.
    this.#socket.on('error', () => {});
    this.#socket.once('close', () => this.#ended());
    this.#timer = setTimeout(() => this.#timedOut(), target.timeoutMs);
    this.#timer.unref();
  }

  /** It takes no request any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** To be called only while it is free: new, or passed to `onFree`. `request`: one character for each byte. */
  send(request: string, done: (outcome: HttpOutcome) => void): void {
    this.#done = done;
    this.#request = request;
    this.#timer.refresh();
    this.#socket.ref();
    if (this.#isConnected) this.#write();
  }

  destroy(): void {
    this.#isOver = true;
    this.#socket.destroy();
  }

  #connected(): void {
    this.#isConnected = true;
    if (this.#done !== undefined) this.#write();
  }

  #write(): void {
    this.#socket.write(this.#request, 'latin1');
    this.#request = '';
  }

  #receive(bytes: Buffer, length: number): void {
    const isFirst = this.#done !== undefined && this.#received === '';
    const response = isFirst ? readEmptyResponse(bytes, length) : undefined;
    if (response === undefined) this.#read(bytes.toString('latin1', 0, length), false);
    else this.#answered(response);
  }

  #read(bytes: string, isEnded: boolean): void {
    this.#received = this.#received === '' ? bytes : this.#received + bytes;
    let response: HttpResponse | undefined;
    try {
      if (this.#done !== undefined) response = readResponse(this.#received, isEnded);
      // Bytes without a request, or the server's end.
      else this.destroy();
    } catch {
      this.destroy();
    }
    if (response !== undefined) this.#answered(response);
  }

  #answered(response: HttpResponse): void {
    const done = this.#done;
    this.#done = undefined;
    this.#received = '';
    if (response.keepsAlive) {
      this.#socket.unref();
      this.#onFree(this);
    } else this.destroy();
    done?.(response);
  }

  #timedOut(): void {
    if (this.#done !== undefined) this.destroy();
  }

  #ended(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const done = this.#done;
    this.#done = undefined;
    this.#onFree(this);
    done?.(this.#request === '' ? 'unanswered' : 'unsent');
  }
}

/**
 * One buffer for all sockets: its bytes are read in the same turn. Node.js would make a new one of 64 KB for each read.
 */
const readBuffer = Buffer.allocUnsafe(16 * 1024);

function open(
  { tls, hostname: host, port }: HttpTarget,
  onRead: (bytes: Buffer, length: number) => void,
): Socket {
  const onread = {
    buffer: readBuffer,
    callback: (length: number) => {
      onRead(readBuffer, length);
      return true;
    },
  };
  if (tls === undefined) return connectTcp({ host, port, onread });
  // An address is not sent as a server name (RFC 6066).
  const servername = isIP(host) === 0 ? host : '';
  const options = { host, port, onread, servername, ALPNProtocols: ['http/1.1'], ...tls };
  const socket = connectTls(options);
  socket.on('session', (session) => {
    tls.session = session;
  });
  return socket;
}
