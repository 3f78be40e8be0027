import type { BrokerOptions, Connections } from '@apus/broker';
import { createBroker, type Log, type Ports } from '@apus/broker';
import {
  type AllowedOrigins,
  createEnvironment,
  createHandlers,
  type Environment,
  gatewayBrokerOptions,
  PostingConnections,
  SignedPoster,
} from '@apus/cloud';
import { type Emulator, startEmulator } from '@apus/emulator';
import type { Handshakes } from '@apus/identity';
import { MemoryLinks } from '@apus/store-memory';
import { withConnectTimeout } from './connect-timeout.ts';
import type { NodeConnections } from './connections.ts';
import { DoorConnections } from './door-connections.ts';
import type { NodeLimits } from './limits.ts';
import { cannotListen } from './listen.ts';
import { GatewayFrameQuota } from './quotas/gateway-frame-quota.ts';
import type { RateQuota } from './quotas/rate-quota.ts';
import type { Scheduler } from './scheduler.ts';
import { meteredBroker, meteredConnections, type TrafficMeter } from './traffic-meter.ts';

/** Everything of a broker but how its connections are reached. */
export type SharedPorts = Omit<Ports, 'connections'>;

export interface GatewayDoor {
  /** `ws://127.0.0.1:8084/mqtt`, for clients with the Apus transport. */
  readonly url: string;
  /** The gateway's connections, for the broker of the node door. */
  readonly connections: Connections;
  readonly emulator: Emulator;
  readonly maximumPacketSizeBytes: number;
  stop(): Promise<void>;
}

export interface GatewayDoorOptions {
  readonly host: string;
  readonly port: number;
  readonly ports: SharedPorts;
  readonly broker: BrokerOptions;
  readonly allowedOrigins: AllowedOrigins;
  /** Absent: no token is looked at. */
  readonly handshakes: Handshakes | undefined;
  readonly lossGraceSeconds: number | undefined;
  readonly limits: NodeLimits;
  readonly node: NodeConnections;
  readonly clock: Scheduler;
  readonly log: Log;
  readonly meter: TrafficMeter;
  readonly rateQuota: RateQuota;
}

/**
 * The gateway door beside the node door: the Lambda handlers behind the strict emulator of API Gateway, over the same
 * stores, so that a message published at one door arrives at the other.
 */
export async function startGatewayDoor(options: GatewayDoorOptions): Promise<GatewayDoor> {
  const { ports, allowedOrigins, handshakes, limits, node, clock, log, meter } = options;
  const links = new MemoryLinks(clock);
  const brokerOptions = gatewayBrokerOptions(options.broker, options.lossGraceSeconds);
  const { maximumPacketSize } = brokerOptions.limits;
  const makeBroker = (gateway: Connections) => {
    const connections = meteredConnections(new DoorConnections(node, gateway), meter);
    return meteredBroker(createBroker({ ...ports, connections }, brokerOptions), meter);
  };
  const frameQuota = new GatewayFrameQuota(options.rateQuota, clock);
  const connectTimeout = {
    ...{ seconds: limits.connectTimeoutSeconds, links, clock, log },
    poster: () => outside.poster,
  };
  const emulator = await startEmulator({
    host: options.host,
    port: options.port,
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
      const poster = new SignedPoster({ endpoint: managementEndpoint, region, credentials, clock, sleep });
      const handlers = createHandlers({
        ...{ links, poster, clock, log, makeBroker, maximumPacketSize, allowedOrigins, handshakes },
        bans: ports.bans,
        frameQuota,
      });
      return withConnectTimeout(handlers, connectTimeout);
    },
    onInvocationError: (error) => log.error('invocation-failed', { error: error.stack ?? error.message }),
  }).catch((error: unknown) => {
    throw cannotListen(error as Error, options.host, options.port, '--gateway-port');
  });
  const { managementEndpoint: endpoint, region, credentials } = emulator;
  const poster = new SignedPoster({ endpoint, region, credentials, clock });
  const outside: Environment = createEnvironment({ links, poster, clock, log, makeBroker });
  return {
    url: emulator.url,
    connections: new PostingConnections(() => outside),
    emulator,
    maximumPacketSizeBytes: maximumPacketSize,
    async stop() {
      await emulator.stop();
      poster.close();
    },
  };
}
