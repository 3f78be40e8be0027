import { createHandlers, DEFAULT_GATEWAY_OPTIONS, FRAME_ROUTES, SignedPoster } from '@apus/aws';
import type { Clock as BrokerClock, Log } from '@apus/broker';
import { createBroker, createProcessState } from '@apus/broker';
import { usageOf } from '@apus/cost';
import { type Clock, type Emulator, startEmulator } from '@apus/emulated-aws';
import { createMemoryStores, MemoryLinks } from '@apus/store-memory';

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** The gateway door alone, on the machine's clock or on one that the test controls. */
export async function startGateway(clock?: Clock): Promise<Emulator> {
  const time: BrokerClock = clock ?? { now: Date.now };
  const links = new MemoryLinks(time);
  const ports = {
    ...createMemoryStores(),
    // No client has a will or a persistent session: no timer is ever due.
    timers: { set() {}, cancel() {} },
    clock: time,
    log: SILENT,
    authenticator: { authenticate: () => ({ tenant: 'default', name: '' }) },
    authenticationMethods: new Map(),
    authorizer: { mayPublish: () => true, maySubscribe: () => true },
    randomId: () => Math.random().toString(36).slice(2),
  };
  const state = createProcessState(ports);
  return await startEmulator({
    routes: FRAME_ROUTES,
    ...(clock !== undefined && { clock }),
    createEnvironment: ({ managementEndpoint: endpoint, variables }) => {
      const credentials = {
        accessKeyId: variables.AWS_ACCESS_KEY_ID ?? '',
        secretAccessKey: variables.AWS_SECRET_ACCESS_KEY ?? '',
        sessionToken: variables.AWS_SESSION_TOKEN,
      };
      const poster = new SignedPoster({
        endpoint,
        region: variables.AWS_REGION ?? '',
        credentials,
        // The emulator checks signatures by the machine's time, not by its own clock.
        clock: { now: Date.now },
      });
      return createHandlers({
        links,
        poster,
        clock: time,
        log: SILENT,
        makeBroker: ({ connections }) => ({
          broker: createBroker({ ...ports, connections }, DEFAULT_GATEWAY_OPTIONS, state),
        }),
        messageClock: state.messageClock,
      });
    },
  });
}

/** The billed messages: every frame in either direction, by 32 KB begun. */
export function billedMessages(emulator: Emulator): number {
  const { gatewayMessagesIn, gatewayMessagesOut } = usageOf(emulator.counters.snapshot());
  return gatewayMessagesIn + gatewayMessagesOut;
}
