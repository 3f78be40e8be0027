import type { SdkRequestHandler } from './request-handler.ts';

/** Options for `new DynamoDBClient(…)`. */
export interface SdkClientConfig {
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The SDK's own retries are off: the caller retries by itself, and counts. */
  readonly maxAttempts: number;
  readonly cacheMiddleware: boolean;
  readonly signer: { sign<Request>(request: Request): Promise<Request> };
  readonly requestHandler: SdkRequestHandler;
  readonly accountIdEndpointMode: 'disabled';
  readonly authSchemePreference: string[];
  readonly defaultsMode: 'standard';
  readonly defaultUserAgentProvider: () => Promise<[]>;
  readonly endpointDiscoveryEnabledProvider: () => Promise<false>;
  readonly ignoreConfiguredEndpointUrls: true;
  readonly retryMode: 'standard';
  readonly useDualstackEndpoint: false;
  readonly useFipsEndpoint: false;
  readonly userAgentAppId: () => Promise<undefined>;
}

/**
 * Settings that the SDK would otherwise look up in the environment and in files of the home directory, for each client
 * anew: that takes as long as three calls.
 */
const EXPLICIT_SETTINGS = {
  accountIdEndpointMode: 'disabled',
  authSchemePreference: [],
  defaultsMode: 'standard',
  defaultUserAgentProvider: async () => [],
  endpointDiscoveryEnabledProvider: async () => false,
  ignoreConfiguredEndpointUrls: true,
  retryMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  userAgentAppId: async () => undefined,
} as const satisfies Partial<SdkClientConfig>;

/**
 * All options that a client in this process needs. Signatures are not checked here, and constant middleware need not be
 * assembled anew for each call: without both options the SDK takes two and a half times as long.
 */
export function clientConfigOf(requestHandler: SdkRequestHandler): SdkClientConfig {
  return {
    ...EXPLICIT_SETTINGS,
    region: 'us-east-1',
    credentials: { accessKeyId: 'emulator', secretAccessKey: 'emulator' },
    maxAttempts: 1,
    cacheMiddleware: true,
    signer: { sign: async (request) => request },
    requestHandler,
  };
}
