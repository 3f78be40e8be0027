import type { Clock, LinkStore, Log } from '@apus/broker';
import type { DoneAfterFlush, Environment, FrameReader, MakeBroker } from './environment.ts';
import type {
  ConnectEvent,
  DisconnectEvent,
  InvocationContext,
  MessageEvent,
  ProxyResult,
} from './events.ts';
import { GatewayConnections } from './gateway-connections.ts';
import { handleConnect } from './handle-connect.ts';
import { handleDisconnect } from './handle-disconnect.ts';
import { handleMessage } from './handle-message.ts';
import { type Meter, NO_METER } from './meter.ts';
import { Postbag } from './postbag.ts';
import type { Poster } from './poster.ts';
import type { QueuedFanOut } from './queued-fan-out.ts';
import { CLIENT_PACKET_BYTES_MAX } from './text-frame.ts';
import type { TokenVerifier } from './tokens/token-verifier.ts';

/** The functions of the three routes. */
export interface Handlers {
  connect(event: ConnectEvent): Promise<ProxyResult>;
  default(event: MessageEvent, context: InvocationContext): Promise<ProxyResult>;
  disconnect(event: DisconnectEvent): Promise<ProxyResult>;
}

export interface HandlerOptions {
  readonly links: LinkStore;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly log: Log;
  /** @default nobody counts */
  readonly meter?: Meter;
  readonly makeBroker: MakeBroker;
  /** The largest packet that is taken from a client, in bytes. @default what a frame holds */
  readonly maximumPacketSize?: number;
  /** What gathers jobs for wide filters; the broker has it as a port. */
  readonly fanOut?: QueuedFanOut;
  /** Ports that wait with their marks until everything has left; the broker has them as ports. */
  readonly doneAfterFlush?: readonly DoneAfterFlush[];
  readonly frameReader?: FrameReader;
  /** @default 'default' */
  readonly defaultTenant?: string;
  /** Checks the token of a handshake. Absent: none is asked for. */
  readonly tokens?: TokenVerifier;
}

/** The tenant of whoever was given no other. */
export const DEFAULT_TENANT = 'default';

/** Puts the handlers of one execution environment together: everything that can be done before the first event. */
export function createHandlers(options: HandlerOptions): Handlers {
  return createRouteHandlers(createEnvironment(options), options.tokens);
}

/** The routes over an environment; `tokens` checks the handshake's. */
export function createRouteHandlers(environment: Environment, tokens: TokenVerifier | undefined): Handlers {
  const { links, log } = environment;
  return {
    connect: (event) => handleConnect({ links, tokens, log }, event),
    default: (event, context) => handleMessage(environment, event, context),
    disconnect: (event) => handleDisconnect(environment, event),
  };
}

export function createEnvironment(options: HandlerOptions): Environment {
  const { links, poster, clock, log, makeBroker, fanOut, frameReader } = options;
  const { maximumPacketSize = CLIENT_PACKET_BYTES_MAX, defaultTenant = DEFAULT_TENANT } = options;
  const { doneAfterFlush = [], meter = NO_METER } = options;
  const postbag = new Postbag(poster, log, meter);
  const connections = new GatewayConnections(postbag, poster, links, clock);
  const broker = makeBroker(connections);
  return {
    broker,
    links,
    connections,
    postbag,
    poster,
    log,
    meter,
    maximumPacketSize,
    fanOut,
    doneAfterFlush,
    frameReader,
    defaultTenant,
  };
}
