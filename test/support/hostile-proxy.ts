import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** The proxy harms one request in so many, on average. */
const HARMED_EACH = 4;
const DELAY_MS_MAX = 60;
const STATUSES = [413, 429, 502, 504] as const;

/** Harms that the proxy does to a request or to its answer. */
const HARMS = [
  'answers',
  'delays',
  'repeats',
  'sends-a-late-copy',
  'loses-the-answer',
  'cuts-the-request',
  'cuts-the-answer',
  'leaves-half-open',
  'buffers',
] as const;

type Harm = (typeof HARMS)[number] | 'none';

/** A proxy that refuses upgrades and harms requests as the random numbers say. It splits and joins all bodies. */
export class HostileProxy {
  isHostile = true;
  /** How often each harm was done. */
  readonly harms = new Map<Harm, number>();
  readonly #target: URL;
  readonly #random: () => number;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(target: string, random: () => number) {
    this.#target = new URL(target);
    this.#random = random;
    this.#server = createServer((request, response) => this.#read(request, response));
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('upgrade', (_, socket) =>
      socket.end('HTTP/1.1 403 Blocked\r\nConnection: close\r\n\r\n'),
    );
  }

  /** @param random numbers from 0 to 1 */
  static async start(target: string, random: () => number): Promise<HostileProxy> {
    const proxy = new HostileProxy(target, random);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** `http://127.0.0.1:PORT` */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Harms nothing any more, and cuts all connections: half-open ones come to their end. */
  becomeKind(): void {
    this.isHostile = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.becomeKind();
    for (const timer of this.#timers) clearTimeout(timer);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #later(act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, this.#below(DELAY_MS_MAX));
    this.#timers.add(timer);
  }

  #draw(): Harm {
    if (!this.isHostile || this.#below(HARMED_EACH) > 0) return 'none';
    return HARMS[this.#below(HARMS.length)] ?? 'none';
  }

  #read(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => this.#handle(request, Buffer.concat(chunks), response));
  }

  #handle(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const harm = this.#draw();
    this.harms.set(harm, (this.harms.get(harm) ?? 0) + 1);
    const pass = () => this.#pass(request, body, response, harm);
    const copy = () => this.#ask(request, body).on('response', (answer) => answer.resume());
    switch (harm) {
      case 'answers':
        response.writeHead(STATUSES[this.#below(STATUSES.length)] ?? 502).end('The proxy says no.');
        break;
      case 'delays':
        this.#later(pass);
        break;
      case 'repeats':
        copy();
        this.#later(pass);
        break;
      case 'sends-a-late-copy':
        pass();
        this.#later(copy);
        break;
      case 'cuts-the-request':
        this.#ask(request, body, this.#below(body.length + 1));
        this.#later(() => response.destroy());
        break;
      default:
        pass();
    }
  }

  /** Asks the server. @param cutAt the request is cut behind so many bytes of its body. @default never */
  #ask(request: IncomingMessage, body: Buffer, cutAt?: number) {
    const { hostname, port } = this.#target;
    const { method, url: path, headers } = request;
    const asked = requestHttp({ hostname, port, method, path, headers, agent: false });
    asked.on('error', () => {});
    asked.on('socket', (socket) => this.#keep(socket));
    const end = cutAt ?? body.length;
    const at = this.#below(end + 1);
    if (at > 0) asked.write(body.subarray(0, at));
    setImmediate(() => {
      if (at < end) asked.write(body.subarray(at, end));
      if (cutAt === undefined) asked.end();
      else this.#later(() => asked.destroy());
    });
    return asked;
  }

  #pass(request: IncomingMessage, body: Buffer, response: ServerResponse, harm: Harm): void {
    if (response.destroyed) return;
    const asked = this.#ask(request, body);
    response.on('close', () => asked.destroy());
    if (harm === 'leaves-half-open') {
      response.flushHeaders();
      this.#later(() => asked.destroy());
    } else asked.on('error', () => response.destroy());
    asked.on('response', (answer) => this.#answer(answer, response, harm));
  }

  #answer(answer: IncomingMessage, response: ServerResponse, harm: Harm): void {
    const chunks: Buffer[] = [];
    const write = (chunk: Buffer) => {
      const at = this.#below(chunk.length + 1);
      if (at > 0) response.write(chunk.subarray(0, at));
      if (harm === 'cuts-the-answer' && this.#below(2) === 0) response.destroy();
      else if (at < chunk.length) response.write(chunk.subarray(at));
    };
    answer.on('error', () => {});
    answer.on('close', () => {
      if (!answer.complete && harm !== 'leaves-half-open') response.destroy();
    });
    if (harm === 'loses-the-answer') {
      answer.once('data', () => response.destroy());
      answer.once('end', () => response.destroy());
      return;
    }
    if (!response.headersSent) response.writeHead(answer.statusCode ?? 502, answer.headers);
    if (harm !== 'buffers') response.flushHeaders();
    answer.on('data', (chunk: Buffer) => (harm === 'buffers' ? chunks.push(chunk) : write(chunk)));
    answer.on('end', () => response.end(Buffer.concat(chunks)));
  }
}
