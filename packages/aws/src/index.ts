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
export {
  createPublishFunction,
  type PublishFunction,
  type PublishFunctionOptions,
} from './publish/create-publish-function.ts';
export type { FunctionUrlEvent } from './publish/function-url.ts';
export { PUBLISH_BYTES_MAX } from './publish/limits.ts';
export { publishAll } from './publish/publish-all.ts';
