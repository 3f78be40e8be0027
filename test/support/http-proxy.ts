import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ProxyRules {
  /** Upgrades are passed on, answered with a status, or never answered. @default 'pass' */
  upgrade?: 'pass' | 'hang' | number;
  /** Responses are passed on when they are whole. */
  isBuffering?: boolean;
  /** A response is cut after this time. */
  cutAfterMs?: number;
  /** The answer of the server to a POST that begins so is lost, once. */
  losesAnswerOf?: RegExp | undefined;
}

/** A proxy of HTTP as one finds it in companies and hotels. Its rules may change at any time. */
export class HttpProxy {
  readonly rules: ProxyRules;
  /** The first line of each POST that was passed on, without its key. */
  readonly lines: string[] = [];
  upgrades = 0;
  readonly #server: Server;
  readonly #targets: readonly URL[];
  readonly #sockets = new Set<Duplex>();
  #turn = 0;

  private constructor(targets: readonly string[], rules: ProxyRules) {
    this.rules = rules;
    this.#targets = targets.map((target) => new URL(target));
    this.#server = createServer((request, response) => this.#pass(request, response));
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
  }

  /** @param targets servers that get requests in turns */
  static async start(targets: string | readonly string[], rules: ProxyRules = {}): Promise<HttpProxy> {
    const proxy = new HttpProxy([targets].flat(), rules);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mqtt`;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get #target(): URL {
    this.#turn += 1;
    return this.#targets[this.#turn % this.#targets.length] as URL;
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { hostname, port } = this.#target;
    const { method, url: path, headers } = request;
    const passed = requestHttp({ hostname, port, method, path, headers, agent: false });
    let line = '';
    request.once('data', (chunk: Buffer) => {
      line = chunk.toString('latin1').split('\n', 1)[0] ?? '';
      this.lines.push(line.replace(/ [\w-]{22}\S*/, ''));
    });
    request.pipe(passed);
    passed.on('socket', (socket) => this.#keep(socket));
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.on('response', (answer) => {
      const { isBuffering, cutAfterMs, losesAnswerOf } = this.rules;
      if (losesAnswerOf?.test(line)) {
        this.rules.losesAnswerOf = undefined;
        answer.once('end', () => response.destroy()).resume();
        return;
      }
      const chunks: Buffer[] = [];
      const head = () => response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!isBuffering) head().flushHeaders();
      answer.on('data', (chunk) => (isBuffering ? chunks.push(chunk) : response.write(chunk)));
      answer.on('end', () => (isBuffering ? head().end(Buffer.concat(chunks)) : response.end()));
      answer.on('error', () => response.destroy());
      if (cutAfterMs !== undefined) {
        const timer = setTimeout(() => response.destroy(), cutAfterMs);
        response.once('close', () => clearTimeout(timer));
      }
    });
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.upgrades += 1;
    const { upgrade = 'pass' } = this.rules;
    if (upgrade === 'hang') return;
    if (upgrade !== 'pass') {
      socket.end(`HTTP/1.1 ${upgrade} Blocked\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    const { hostname, port } = this.#target;
    const passed = connect({ host: hostname, port: Number(port) });
    this.#keep(passed);
    const lines = request.rawHeaders.map((each, at) => each + (at % 2 === 0 ? ': ' : '\r\n')).join('');
    passed.write(`GET ${request.url} HTTP/1.1\r\n${lines}\r\n`);
    passed.write(head);
    passed.pipe(socket).pipe(passed);
    passed.once('close', () => socket.destroy());
    socket.once('close', () => passed.destroy());
  }
}
