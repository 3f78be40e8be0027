export type { DoneAfterFlush, Environment, FrameReader, MakeBroker } from './environment.ts';
export type * from './events.ts';
export { GatewayConnections } from './gateway-connections.ts';
export {
  createEnvironment,
  createHandlers,
  DEFAULT_TENANT,
  type HandlerOptions,
  type Handlers,
} from './handlers.ts';
export { type JobQueue, type QueueEntry, QueueUnavailable, SqsQueue } from './job-queue.ts';
export { type Cloud, type CloudOptions, composeCloud } from './lambda/compose.ts';
export { VARIABLES } from './lambda/variables.ts';
export { DEFAULT_GATEWAY_OPTIONS, gatewayBrokerOptions } from './options.ts';
export { Postbag } from './postbag.ts';
export type { Poster, PostOutcome } from './poster.ts';
export { PostingConnections } from './posting-connections.ts';
export { type Backlog, QueuedFanOut } from './queued-fan-out.ts';
export { ReceivedAfterFlush } from './received-after-flush.ts';
export { SignedPoster, type SignedPosterOptions } from './signed-poster.ts';
export type { AwsCredentials } from './sigv4.ts';
export { SUBPROTOCOL } from './subprotocol.ts';
export * from './text-frame.ts';
export type { TokenRefusal, TokenVerifier } from './tokens/token-verifier.ts';
