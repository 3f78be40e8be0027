import type { IncomingMessage, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';

/** Bytes of an answer's beginning: a status and a line end. */
const STATUS_BYTES = 4;

/** Proxies neither keep nor change a response, nor wait for more of it before they pass it on. */
const HEADERS = {
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
} as const;

/**
 * One request of an HTTP link as a stream, which another process of a cluster can serve as well. Its body is read from
 * the stream. Its answer is written to the stream: `200`, a line end, and the body.
 */
export class HttpExchange extends Duplex {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  /** @param origin of the page that may read the answer. @default none */
  constructor(request: IncomingMessage, response: ServerResponse, origin: string | undefined) {
    super();
    this.#request = request;
    this.#response = response;
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Allow-Credentials', 'true');
    }
    response.setHeader('Vary', 'Origin');
    request.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) request.pause();
    });
    request.on('end', () => this.push(null));
    request.on('error', () => {});
    response.on('error', () => {});
    response.on('close', () => this.destroy());
    // `destroy` with an error is for the caller: the client is told nothing.
    this.on('error', () => {});
  }

  override _read(): void {
    this.#request.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const response = this.#response;
    if (response.headersSent) {
      response.write(chunk, done);
      return;
    }
    const status = Number(chunk.toString('latin1', 0, STATUS_BYTES - 1));
    const isText = status !== 200;
    response.setHeader('Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/octet-stream');
    // The rest of a refused body is not read.
    if (isText) response.setHeader('Connection', 'close');
    response.writeHead(status);
    response.write(chunk.subarray(STATUS_BYTES), done);
  }

  override _final(done: () => void): void {
    this.#response.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#response.writableFinished) this.#response.destroy();
    done(error);
  }
}

/** Answers a request that is not served. */
export function refuse(exchange: Duplex, status: number, sentence: string): void {
  exchange.end(`${status}\n${sentence}\n`);
}

export function refuseUnknown(exchange: Duplex): void {
  refuse(exchange, 404, 'There is no such link: it has ended.');
}
