/** The check of payloads without the schema compiler, for functions: each kilobyte makes their cold starts slower. */

export { type CheckedTopic, CompiledPayloads } from './checked-topics.ts';
