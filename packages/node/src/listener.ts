import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Log } from '@apus/broker';
import { type WebSocket, WebSocketServer } from 'ws';
import { chooseSubprotocol, refusalOf, refuseHandshake } from './handshake.ts';
import type { NodeLimits } from './limits.ts';
import type { Links } from './links.ts';
import { type LinkContext, NodeLink } from './node-link.ts';
import type { AllowedOrigins } from './options.ts';

export interface ListenerOptions {
  readonly limits: NodeLimits;
  readonly maximumPacketSize: number;
  readonly allowedOrigins: AllowedOrigins;
  readonly log: Log;
  /** Names a connection; never the same twice. */
  readonly connectionId: () => string;
}

/** Turns HTTP upgrade requests into links, or refuses them. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #links: Links;
  readonly #context: LinkContext;
  readonly #webSockets: WebSocketServer;
  #stopping = false;

  constructor(server: Server, links: Links, context: LinkContext, options: ListenerOptions) {
    this.#options = options;
    this.#links = links;
    this.#context = context;
    this.#webSockets = createWebSocketServer(options);
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Refuses every further handshake. */
  stop(): void {
    this.#stopping = true;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refusal = this.#unavailable() ?? refusalOf(request, this.#options.allowedOrigins);
    if (refusal !== undefined) {
      this.#options.log.info('handshake-refused', { address: addressOf(request), ...refusal });
      refuseHandshake(socket, refusal);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) =>
      this.#open(webSocket, request, socket),
    );
  }

  #unavailable(): { status: number; reason: string } | undefined {
    if (this.#stopping) return { status: 503, reason: 'This broker is shutting down.' };
    const { connectionsMax } = this.#options.limits;
    if (this.#links.size < connectionsMax) return undefined;
    return { status: 503, reason: `This broker has ${connectionsMax} connections and takes no more.` };
  }

  #open(webSocket: WebSocket, request: IncomingMessage, socket: Duplex): void {
    const id = this.#options.connectionId();
    const link = new NodeLink(this.#context, id, { address: addressOf(request) }, webSocket, socket);
    this.#links.add(link);
    this.#options.log.debug('opened', { connectionId: id, address: link.peer.address });
  }
}

function createWebSocketServer({ limits, maximumPacketSize }: ListenerOptions): WebSocketServer {
  const options = {
    noServer: true,
    clientTracking: false,
    // Frames are written past `ws` (see outbox.ts), which only works uncompressed.
    perMessageDeflate: false,
    maxPayload: Math.max(limits.webSocketMessageBytesMax, maximumPacketSize),
    closeTimeout: limits.closeTimeoutSeconds * 1000,
    // A text frame is refused for being one, whatever it holds.
    skipUTF8Validation: true,
    handleProtocols: (offered: Set<string>) => chooseSubprotocol(offered) ?? false,
  } as const;
  return new WebSocketServer(options);
}

function addressOf(request: IncomingMessage): string {
  const { remoteAddress, remotePort } = request.socket;
  return `${remoteAddress ?? 'unknown'}:${remotePort ?? 0}`;
}
