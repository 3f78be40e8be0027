export type { AwsCredentials, AwsSigning } from './authorize.ts';
export { PublishError, PublishRefused, PublishUnavailable } from './errors.ts';
export type { PublishMessage, PublishOptions, Receipt } from './message.ts';
export { createPublisher, type Publisher, type PublisherOptions } from './publisher.ts';
export { signConnectUrl } from './sign-connect-url.ts';
