import { type Clock, steadyNow } from '@apus/broker';
import { type HttpOutcome, HttpSocket, type HttpTarget } from './socket.ts';

export interface HttpClientOptions extends HttpTarget {
  readonly clock: Clock;
  readonly socketsMax: number;
  /**
   * A socket that was idle for longer is not used again: the server may have closed it, or be about to. It would be
   * unknown whether a request that meets this was handled.
   */
  readonly idleMsMax: number;
}

/** Sends requests; a request is a text with one character for each byte. */
export interface RequestSender {
  /** Never rejects. */
  send(request: string): Promise<HttpOutcome>;
  close(): void;
}

interface Waiting {
  readonly request: string;
  readonly done: (outcome: HttpOutcome) => void;
}

/** Requests over a bounded number of kept-alive connections. A request that finds none free waits in line. */
export class HttpClient implements RequestSender {
  readonly #options: HttpClientOptions;
  readonly #sockets = new Set<HttpSocket>();
  /** The socket that was used last is used next, so that the others become idle together. */
  readonly #idle: HttpSocket[] = [];
  readonly #waiting: Waiting[] = [];

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  send(request: string): Promise<HttpOutcome> {
    return new Promise((done) => this.#give(request, done));
  }

  /** Closes all sockets; requests under way are 'unanswered'. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #give(request: string, done: Waiting['done']): void {
    const socket = this.#takeIdle() ?? this.#open();
    if (socket === undefined) this.#waiting.push({ request, done });
    else socket.send(request, done);
  }

  #takeIdle(): HttpSocket | undefined {
    const { clock, idleMsMax } = this.#options;
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.isOver) continue;
      if (steadyNow(clock) - last.freeSinceMs <= idleMsMax) return last;
      this.#sockets.delete(last);
      last.destroy();
    }
    return undefined;
  }

  #open(): HttpSocket | undefined {
    if (this.#sockets.size >= this.#options.socketsMax) return undefined;
    const socket = new HttpSocket(this.#options, (free) => this.#freed(free));
    this.#sockets.add(socket);
    return socket;
  }

  /** A socket has its answer, or has ended. */
  #freed(socket: HttpSocket): void {
    if (socket.isOver) this.#sockets.delete(socket);
    else {
      socket.freeSinceMs = steadyNow(this.#options.clock);
      this.#idle.push(socket);
    }
    const next = this.#waiting.shift();
    if (next !== undefined) this.#give(next.request, next.done);
  }
}
