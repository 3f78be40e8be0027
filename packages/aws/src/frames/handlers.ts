import { setTimeout as sleepFor } from 'node:timers/promises';
import type { Clock, LinkStore, Log, MessageClock, UsageCounter } from '@apus/broker';
import type { FrameQuota, Tracer } from '@apus/door';
import { DEFAULT_TENANT } from '@apus/identity';
import type { BeforePage, CloudBans, Environment, MakeBroker } from '../environment.ts';
import type {
  ConnectEvent,
  DisconnectEvent,
  InvocationContext,
  MessageEvent,
  ProxyResult,
} from '../events/gateway.ts';
import type { FanOutQueue } from '../fan-out/gathered-jobs.ts';
import type { HandlerSettings } from '../function-options.ts';
import type { ConnectDeadline } from '../handshake/connect-deadline.ts';
import type { HandshakeCheck } from '../handshake/handshake-check.ts';
import { type Meter, NO_METER } from '../metrics/meter.ts';
import { CONNECTION_SECONDS_MAX, RESUME_SECONDS } from '../options.ts';
import type { Poster } from '../posts/poster.ts';
import type { RuleQueue } from '../rules/rule-outlet.ts';
import { connectInHandshake } from './connect-in-handshake.ts';
import { type ConnectOptions, handleConnect } from './handle-connect.ts';
import { handleDisconnect } from './handle-disconnect.ts';
import { handleMessage } from './handle-message.ts';
import { CLIENT_PACKET_BYTES_MAX, CONNECT_IN_HANDSHAKE, EXTENSIONS } from './text-frame.ts';

/** The functions of the three routes. */
export interface Handlers {
  connect(event: ConnectEvent): Promise<ProxyResult>;
  default(event: MessageEvent, context: InvocationContext): Promise<ProxyResult>;
  disconnect(event: DisconnectEvent): Promise<ProxyResult>;
}

export interface HandlerOptions extends HandlerSettings {
  readonly links: LinkStore;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly log: Log;
  /** @default no metrics */
  readonly meter?: Meter;
  /** @default usage is not counted */
  readonly usage?: UsageCounter | undefined;
  readonly makeBroker: MakeBroker;
  /** Shared by all brokers that `makeBroker` makes. */
  readonly messageClock: MessageClock;
  /** The largest packet that a client may send, in bytes. @default the bytes of a frame */
  readonly maximumPacketSize?: number;
  /** The gateway cuts a connection at this age. @default two hours */
  readonly connectionSeconds?: number | undefined;
  /** @default a timer of this process */
  readonly sleep?: (ms: number) => Promise<void>;
  /** The queue of the workers that serve wide filters. */
  readonly fanOut?: FanOutQueue;
  /** @default there are none */
  readonly rules?: RuleQueue | undefined;
  /** @default no limit on frames */
  readonly frameQuota?: FrameQuota | undefined;
  /** @default connections without an identity wait for the sweep */
  readonly connectDeadline?: ConnectDeadline | undefined;
  /** Called before messages are dequeued for a reply. @default the stores keep the order */
  readonly beforePage?: BeforePage | undefined;
  /** Lets other clients of the process have their turn. @default there are none: one event at a time */
  readonly pause?: Environment['pause'];
  /** @default 'default' */
  readonly defaultTenant?: string;
  /** Authenticates a handshake. Absent: every handshake is accepted. */
  readonly handshakes?: HandshakeCheck | undefined;
  /** The broker has these bans as a port too. @default there are no bans */
  readonly bans?: CloudBans | undefined;
  /** Records the way of messages whose publishers ask for it. @default no traces */
  readonly tracer?: Tracer | undefined;
}

/** Makes the handlers of one execution environment. Does everything that can be done before the first event. */
export function createHandlers(options: HandlerOptions): Handlers {
  return createRouteHandlers(createEnvironment(options), options);
}

/** The routes over an environment, and the checks of a handshake. */
export function createRouteHandlers(
  environment: Environment,
  { handshakes, allowedOrigins, bans }: Pick<HandlerOptions, 'handshakes' | 'allowedOrigins' | 'bans'>,
): Handlers {
  const { links, log, frameQuota, connectDeadline, defaultTenant } = environment;
  const takeConnect: ConnectOptions['takeConnect'] = (event, offer) =>
    connectInHandshake(environment, event, offer);
  const given: ConnectOptions = {
    ...{ links, handshakes, allowedOrigins, bans, log, frameQuota, connectDeadline, defaultTenant },
    ...(environment.takesConnect && { takeConnect, extensions: environment.extensions }),
  };
  return {
    connect: (event) => handleConnect(given, event),
    default: (event, context) => handleMessage(environment, event, context),
    disconnect: (event) => handleDisconnect(environment, event),
  };
}

export function createEnvironment(options: HandlerOptions): Environment {
  const {
    meter = NO_METER,
    maximumPacketSize = CLIENT_PACKET_BYTES_MAX,
    defaultTenant = DEFAULT_TENANT,
    connectionSeconds = CONNECTION_SECONDS_MAX,
    resumeSeconds = RESUME_SECONDS,
    cutAfterMs = 0,
    withoutExtensions = [],
    sleep = sleepFor,
  } = options;
  const extensions = EXTENSIONS.filter((name) => !withoutExtensions.includes(name));
  const moves = { connectionSeconds, resumeSeconds, cutAfterMs, sleep };
  const takesConnect = !withoutExtensions.includes(CONNECT_IN_HANDSHAKE);
  return { ...options, meter, maximumPacketSize, defaultTenant, extensions, takesConnect, ...moves };
}
