import { setImmediate } from 'node:timers/promises';
import {
  createEnvironment,
  createHandlers,
  type Environment,
  FRAME_ROUTES,
  gatewayBrokerOptions,
  type MakeBroker,
  NUDGE,
  PostingConnections,
  SignedPoster,
} from '@apus/aws';
import {
  createProcessState,
  type Expulsion,
  IDENTITY_EXPIRED,
  type Log,
  type SessionRecord,
} from '@apus/broker';
import { type Emulator, startEmulator } from '@apus/emulator';
import { ReasonCode } from '@apus/mqtt';
import { cannotListen, type GatewayContext, type GatewayDoor } from '@apus/node';
import { withConnectTimeout } from './connect-timeout.ts';
import { GatewayPlaces } from './gateway-places.ts';
import { HandlersPoster, OrderedPoster, PageOrder } from './page-order.ts';
import { WatchedLinks } from './watched-links.ts';

/** As the node door ends a connection whose identity has expired. */
const EXPIRED: Expulsion = {
  reasonCode: ReasonCode.NotAuthorized,
  reason: IDENTITY_EXPIRED,
  endsSession: false,
  publishesWill: true,
};

/** Frames of one client under way: a client that waits for replies has one. Beyond it the door reads no further. */
const FRAMES_READ_AHEAD_MAX = 16;

export interface GatewayDoorOptions {
  /** The port, at the host of the node door. 0: any free port. */
  readonly port: number;
  readonly lossGraceSeconds: number | undefined;
}

/** A gateway door over the emulator of API Gateway. */
export interface EmulatedGatewayDoor extends GatewayDoor {
  readonly emulator: Emulator;
}

/**
 * The gateway door beside the node door: the Lambda handlers behind the strict emulator of API Gateway, over the same
 * stores. So a message that a client publishes at one door reaches subscribers at the other.
 */
export async function startGatewayDoor(
  { port, lossGraceSeconds }: GatewayDoorOptions,
  context: GatewayContext,
): Promise<EmulatedGatewayDoor> {
  const { host, ports, allowedOrigins, sourceOf, handshakes, limits, addresses, frameQuota, clock, log } =
    context;
  const places = new GatewayPlaces({ limits, addresses, log, clock });
  const links = new WatchedLinks(clock, {
    connected: (connectionId) => places.connected(connectionId),
    expired: (connectionId, { session: { tenant, clientId } }) => {
      const isMeant = ({ attachment }: SessionRecord) => attachment?.connectionId === connectionId;
      void inTheBackground(log, async () => await expirer.expel(tenant, clientId, EXPIRED, isMeant));
    },
  });
  const brokerOptions = gatewayBrokerOptions(context.broker, lossGraceSeconds);
  const { maximumPacketSize } = brokerOptions.limits;
  const state = createProcessState(ports);
  const makeBroker: MakeBroker = ({ connections }) => ({
    broker: context.makeBroker(connections, brokerOptions, state),
  });
  const pageOrder = new PageOrder((connectionId) => {
    const state = links.load(connectionId);
    if (state?.phase !== 'connected' || state.connection.session.attachment?.takesNudges !== true) return;
    void outside.poster.post(connectionId, NUDGE, true);
  });
  // One frame goes on in each turn of the event loop, and all of them in the order in which they have paused.
  let paused: Promise<void> = Promise.resolve();
  const pause = () => {
    paused = paused.then(() => setImmediate());
    return paused;
  };
  const shared = { links, clock, log, makeBroker, messageClock: state.messageClock };
  const connectTimeout = {
    ...{ seconds: limits.connectTimeoutSeconds, links, clock, log },
    poster: () => outside.poster,
  };
  const emulator = await startEmulator({
    routes: FRAME_ROUTES,
    host,
    port,
    sourceOf,
    signatureNow: () => clock.now(),
    doorkeeper: places,
    limits: {
      connectionsMax: limits.connectionsMax,
      messagesReadAheadMax: FRAMES_READ_AHEAD_MAX,
      unfinishedBytesMax: limits.inboundTotalBytesMax,
      requestTimeoutMs: limits.handshakeTimeoutSeconds * 1000,
      requestHeaderBytesMax: limits.handshakeBytesMax,
    },
    createEnvironment: ({ managementEndpoint, variables, clock: environmentClock }) => {
      const credentials = {
        accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
        secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
        sessionToken: variables.AWS_SESSION_TOKEN,
      };
      const region = variables.AWS_REGION ?? '';
      const sleep = (ms: number) =>
        new Promise<void>((resolve) => void environmentClock.setTimer(ms, resolve));
      const poster = new HandlersPoster(
        new SignedPoster({ endpoint: managementEndpoint, region, credentials, clock, sleep }),
        pageOrder,
      );
      const handlers = createHandlers({
        ...{ ...shared, poster, maximumPacketSize, allowedOrigins, handshakes },
        bans: ports.bans,
        frameQuota,
        pause,
        beforePage: (connectionId, commit) => poster.beforePage(connectionId, commit),
      });
      return withConnectTimeout(poster.over(handlers), connectTimeout);
    },
    onAnswered: (requestId) => pageOrder.answered(requestId),
    onInvocationError: (error) => log.error('invocation-failed', { error: error.stack ?? error.message }),
  }).catch((error: unknown) => {
    throw cannotListen(error as Error, host, port, '--gateway-port');
  });
  const { managementEndpoint: endpoint, region, credentials } = emulator;
  const poster = new SignedPoster({ endpoint, region, credentials, clock });
  const outside: Environment = createEnvironment({
    ...shared,
    poster: new OrderedPoster(poster, pageOrder),
  });
  const connections = new PostingConnections(outside);
  const expirer = context.makeBroker(connections, brokerOptions, state);
  links.start();
  return {
    url: emulator.url,
    connections,
    emulator,
    counters: () => emulator.counters.snapshot(),
    maximumPacketSizeBytes: maximumPacketSize,
    async stop() {
      links.stop();
      await emulator.stop();
      poster.close();
    },
  };
}

async function inTheBackground(log: Log, task: () => Promise<unknown>): Promise<void> {
  try {
    await task();
  } catch (error) {
    log.error('expel-failed', { error: String(error) });
  }
}
