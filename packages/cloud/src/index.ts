export type { CloudBans, Environment, EventStores, MakeBroker } from './environment.ts';
export type * from './events/gateway.ts';
export type { Frame } from './frames/frame.ts';
export { type ConnectOptions, handleConnect } from './frames/handle-connect.ts';
export {
  createEnvironment,
  createHandlers,
  type HandlerOptions,
  type Handlers,
} from './frames/handlers.ts';
export * from './frames/text-frame.ts';
export {
  type AllowedOrigins,
  isAllowedOrigin,
  isLoopbackHost,
  isLoopbackOrigin,
  LOOPBACK_ORIGINS,
} from './handshake/allowed-origins.ts';
export { offeredConnect, SUBPROTOCOL_ACCEPTED, SUBPROTOCOL_HANDLED } from './handshake/offered-connect.ts';
export { SUBPROTOCOL, SUBPROTOCOL_WITH_OFFER } from './handshake/subprotocol.ts';
export type { RequestSender } from './http/client.ts';
export type { AwsCredentials } from './http/sigv4.ts';
export type { HttpOutcome } from './http/socket.ts';
export { DEFAULT_GATEWAY_OPTIONS, gatewayBrokerOptions } from './options.ts';
export { inOneEvent, Outbox } from './outbox.ts';
export type { Poster, PostOutcome } from './posts/poster.ts';
export { PostingConnections } from './posts/posting-connections.ts';
export { SignedPoster, type SignedPosterOptions } from './posts/signed-poster.ts';
export * from './publish/index.ts';
export type { FrameContents, FrameQuota } from './quotas/frame-quota.ts';
export type { QuotaScope } from './quotas/shared-quota.ts';
export { listStreams, type StreamLine } from './streams/list.ts';
export { type StreamPage, streamMessages } from './streams/messages.ts';
export { fieldsOfQuery, readQuestion, StreamQuestionError } from './streams/question.ts';
export { OtlpExporter, type OtlpOptions } from './tracing/otlp.ts';
export { tracedBroker, tracedConnections, tracedSubscriptions } from './tracing/traced.ts';
export { Tracer, type TracerOptions } from './tracing/tracer.ts';
