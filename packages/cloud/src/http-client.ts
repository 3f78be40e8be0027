import type { Clock } from '@apus/broker';
import { type HttpOutcome, HttpSocket, type HttpTarget } from './http-socket.ts';

export interface HttpClientOptions extends HttpTarget {
  readonly clock: Clock;
  readonly socketsMax: number;
  /**
   * A socket that was idle for longer is not used again: the server may have closed it, or is about to, and a request
   * that meets that is one of unknown fate.
   */
  readonly idleMsMax: number;
}

/** Carries requests, each the whole of it with one character for each byte. */
export interface RequestSender {
  /** Never rejects. */
  send(request: string): Promise<HttpOutcome>;
  close(): void;
}

interface Waiting {
  readonly request: string;
  readonly done: (outcome: HttpOutcome) => void;
}

interface Idle {
  readonly socket: HttpSocket;
  readonly sinceMs: number;
}

/** Requests over a bounded number of kept-alive connections. Those that find none free wait, in their order. */
export class HttpClient implements RequestSender {
  readonly #options: HttpClientOptions;
  readonly #sockets = new Set<HttpSocket>();
  /** The one used last is used next, so that the others grow old together. */
  readonly #idle: Idle[] = [];
  readonly #waiting: Waiting[] = [];

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  send(request: string): Promise<HttpOutcome> {
    return new Promise((done) => this.#give({ request, done }));
  }

  /** Closes all sockets; requests under way are unanswered. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #give(waiting: Waiting): void {
    const socket = this.#takeIdle() ?? this.#open();
    if (socket === undefined) this.#waiting.push(waiting);
    else socket.send(waiting.request, waiting.done);
  }

  #takeIdle(): HttpSocket | undefined {
    const oldestMs = this.#options.clock.now() - this.#options.idleMsMax;
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.socket.isOver) continue;
      if (last.sinceMs >= oldestMs) return last.socket;
      this.#sockets.delete(last.socket);
      last.socket.destroy();
    }
    return undefined;
  }

  #open(): HttpSocket | undefined {
    if (this.#sockets.size >= this.#options.socketsMax) return undefined;
    const socket = new HttpSocket(this.#options, (free) => this.#freed(free));
    this.#sockets.add(socket);
    return socket;
  }

  /** A socket has answered, or ended. */
  #freed(socket: HttpSocket): void {
    if (socket.isOver) this.#sockets.delete(socket);
    else this.#idle.push({ socket, sinceMs: this.#options.clock.now() });
    const next = this.#waiting.shift();
    if (next !== undefined) this.#give(next);
  }
}
