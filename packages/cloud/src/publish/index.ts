/** Publishing over HTTP: the code that the Lambda function of the endpoint and the node door share. */
export {
  type Authenticate,
  byKeys,
  byPlatform,
  TENANT_HEADER,
  unauthorized,
} from './callers.ts';
export {
  createPublishFunction,
  type PublishFunction,
  type PublishFunctionOptions,
} from './create-publish-function.ts';
export {
  BULK_PATH,
  CLOCK_HEADER,
  createPublishEndpoint,
  PUBLISH_PATH,
  type PublishEndpointOptions,
} from './endpoint.ts';
export type { FunctionUrlEvent, FunctionUrlResult } from './function-url.ts';
export { type HttpAnswer, type HttpRequest, problem } from './http.ts';
export { BULK_MESSAGES_MAX, PUBLISH_BYTES_MAX, REQUEST_BYTES_MAX } from './limits.ts';
export { NotReached, type PublishOutcome } from './outcomes.ts';
export { publishAll } from './publish-all.ts';
