/** The document for developers, of topics that have been read: without what reads, compiles and checks schemas. */
export { asyncApiOf, type DocumentContext } from './async-api.ts';
export type { ServerDescription, TopicDescription, Topics } from './topics.ts';
