export {
  type AllowedOrigins,
  isAllowedOrigin,
  isLoopbackHost,
  isLoopbackOrigin,
  LOOPBACK_ORIGINS,
} from './allowed-origins.ts';
export type { CloudBans, DoneAfterFlush, Environment, FrameReader, MakeBroker } from './environment.ts';
export type * from './events.ts';
export { GatewayConnections } from './gateway-connections.ts';
export { type ConnectOptions, handleConnect } from './handle-connect.ts';
export {
  createEnvironment,
  createHandlers,
  type HandlerOptions,
  type Handlers,
} from './handlers.ts';
export type { RequestSender } from './http-client.ts';
export type { HttpOutcome } from './http-socket.ts';
export { DEFAULT_GATEWAY_OPTIONS, gatewayBrokerOptions } from './options.ts';
export { Postbag } from './postbag.ts';
export type { Poster, PostOutcome } from './poster.ts';
export { PostingConnections } from './posting-connections.ts';
export * from './publish/index.ts';
export type { FrameContents, FrameQuota } from './quotas/frame-quota.ts';
export type { QuotaScope } from './quotas/shared-quota.ts';
export { ReceivedAfterFlush } from './received-after-flush.ts';
export { SignedPoster, type SignedPosterOptions } from './signed-poster.ts';
export type { AwsCredentials } from './sigv4.ts';
export { SUBPROTOCOL } from './subprotocol.ts';
export * from './text-frame.ts';
