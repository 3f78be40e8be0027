/**
 * The document for developers, made of topics that have been read. This entry point does not load the code that reads,
 * compiles and checks schemas.
 */
export { asyncApiOf, type DocumentContext } from './async-api.ts';
export type { ServerDescription, TopicDescription, Topics } from './topics.ts';
