import type { AuthenticationMethod, Authenticator, Authorizer, GivenQuotaScopes } from '@apus/broker';
import type { ListenAddress, NodeOptions } from '@apus/node';
import {
  type Door,
  doorUnderTest,
  isClusterUnderTest,
  isObjectUnderTest,
  isTcpUnderTest,
  LOSS_GRACE_SECONDS,
} from './door.ts';
import { openClusterDoor } from './start-cluster.ts';
import { openObjectDoor } from './start-object.ts';

/** The options of a door that a test starts, with the node door's names. An absent option has its default. */
export interface DoorOptions {
  receiveMaximum?: number;
  maximumPacketSize?: number;
  topicAliasMaximum?: number;
  inflightMessagesMax?: number;
  queueLengthMax?: number;
  queueWhenFull?: 'drop-oldest' | 'drop-newest';
  subscriptionsPerSessionMax?: number;
  topicLevelsMax?: number;
  connectTimeoutSeconds?: number;
  sessionExpirySecondsMax?: number;
  serverKeepAliveSecondsMax?: number;
  /**
   * `one`: a message that matches several subscriptions of a session comes once; `each`: once for each subscription.
   */
  overlapping?: 'one' | 'each';
  clientIdLengthMax?: number;
  willPayloadBytesMax?: number;
  /** `%c` becomes the client identifier. */
  responseInformation?: string;
  /** The destination of the log; for tests that make the broker log errors. */
  logSink?: (entry: unknown) => void;
  logLevel?: 'debug';
  authenticator?: Authenticator;
  authorizer?: Authorizer;
  authorize?: unknown;
  usersFile?: unknown;
  /** The result of `readIdentity`. */
  identity?: unknown;
  allowedOrigins?: readonly string[];
  quotas?: GivenQuotaScopes;
  dataDirectory?: string;
  /** Streams, in the form of `startNode`. */
  streams?: readonly unknown[];
  /** Descriptions of topics, in the form of `startNode`. */
  topics?: unknown;
  connectionsMax?: number;
  pendingPerAddressMax?: number;
  trustedProxies?: readonly string[];
  tenantQueueBytesMax?: number;
  presenceMembersMax?: number;
  presenceBytesMax?: number;
  presenceRoomsPerSessionMax?: number;
  presenceRoomsPerIdentityMax?: number;
  presenceOwnersMax?: number;
  presenceGraceSeconds?: number;
  authenticationMethods?: readonly AuthenticationMethod[];
  /** The key of the HTTP API. */
  apiKey?: string;
}

interface NodeDoor {
  readonly url: string;
  readonly urls: readonly string[];
  readonly httpUrl: string;
  readonly gateway: { readonly url: string } | undefined;
  stop(): Promise<void>;
}

const TCP: ListenAddress = {
  ...{ scheme: 'tcp', host: '127.0.0.1', port: 0 },
  ...{ hasProxyProtocol: false, needsCertificate: false, origins: [], connectionsMax: undefined },
};

/** Why tests with their own options cannot run against a running broker. */
export const OPTIONS_NEED_OUR_DOOR = 'APUS_TEST_URL names a running broker, which takes no options';

/** The broker that `APUS_TEST_URL` names, or undefined when the tests start our own. */
export const runningBrokerUrl: string | undefined = process.env.APUS_TEST_URL || undefined;

/** The broker that `APUS_TEST_URL` names, or else a door in this process: the node door, or the gateway door. */
export async function openDoor(options: DoorOptions = {}): Promise<Door> {
  if (runningBrokerUrl !== undefined) {
    return { name: 'running broker', url: runningBrokerUrl, stop: async () => {} };
  }
  if (isObjectUnderTest) return await openObjectDoor(options);
  if (isClusterUnderTest) return await openClusterDoor(options as NodeOptions);
  // The name is in a variable: so this file type-checks without the package.
  const cliPackage: string = '@apus/cli';
  const { startDoors } = (await import(cliPackage)) as {
    startDoors(
      options: DoorOptions & {
        port: number;
        gatewayPort?: number;
        gatewayLossGraceSeconds?: number;
        listen?: readonly ListenAddress[];
      },
    ): Promise<NodeDoor>;
  };
  const isGateway = doorUnderTest === 'gateway';
  const gateway = { gatewayPort: 0, gatewayLossGraceSeconds: LOSS_GRACE_SECONDS };
  const tcp = { listen: [TCP] };
  const node = await startDoors({
    ...options,
    port: 0,
    ...(isGateway && gateway),
    ...(isTcpUnderTest && tcp),
  });
  const url = isGateway
    ? node.gateway?.url
    : isTcpUnderTest
      ? node.urls[1]?.replace('tcp:', 'mqtt:')
      : node.url;
  if (url === undefined) throw new Error('the node has not opened the door');
  return { name: doorUnderTest, url, httpUrl: node.httpUrl, stop: () => node.stop() };
}
