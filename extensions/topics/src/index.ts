export { asyncApiOf, type DocumentContext } from './async-api.ts';
export { readTopicsFile, TopicCatalogue } from './catalogue.ts';
export { type CompiledTopics, compileTopics, RE2_FILE } from './compile-topics.ts';
export { PayloadSchemas } from './payload-schemas.ts';
export { inlined, SchemaError } from './schema.ts';
export {
  type GivenTopics,
  readTopics,
  type ServerDescription,
  type TopicDescription,
  type Topics,
} from './topics.ts';
