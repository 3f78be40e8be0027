import { createProcessState } from '@apus/broker';
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
} from '@apus/cloud';
import { type Emulator, startEmulator } from '@apus/emulator';
import { cannotListen, type GatewayContext, type GatewayDoor } from '@apus/node';
import { MemoryLinks } from '@apus/store-memory';
import { withConnectTimeout } from './connect-timeout.ts';
import { HandlersPoster, OrderedPoster, PageOrder } from './page-order.ts';

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
  const { host, ports, allowedOrigins, handshakes, limits, frameQuota, clock, log } = context;
  const links = new MemoryLinks(clock);
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
  const shared = { links, clock, log, makeBroker, messageClock: state.messageClock };
  const connectTimeout = {
    ...{ seconds: limits.connectTimeoutSeconds, links, clock, log },
    poster: () => outside.poster,
  };
  const emulator = await startEmulator({
    routes: FRAME_ROUTES,
    host,
    port,
    signatureNow: () => clock.now(),
    limits: {
      connectionsMax: limits.connectionsMax,
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
  return {
    url: emulator.url,
    connections: new PostingConnections(outside),
    emulator,
    counters: () => emulator.counters.snapshot(),
    maximumPacketSizeBytes: maximumPacketSize,
    async stop() {
      await emulator.stop();
      poster.close();
    },
  };
}
