/** The check of payloads without the compiler of schemas: for functions, whose cold starts pay for each kilobyte. */

export { type CheckedTopic, CompiledPayloads } from './checked-topics.ts';
