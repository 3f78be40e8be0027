export { asyncApiOf, type DocumentContext } from './async-api.ts';
export { readTopicsFile, TopicCatalogue } from './catalogue.ts';
export { PayloadSchemas } from './payload-schemas.ts';
export { inlined, SchemaError } from './schema.ts';
export { readTopics, type ServerDescription, type TopicDescription, type Topics } from './topics.ts';
