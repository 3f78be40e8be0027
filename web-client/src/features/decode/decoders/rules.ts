import type { DecodedValue } from '../value.ts';

/** A dropped file. */
export interface SchemaFile {
  readonly name: string;
  readonly text: string;
}

/** The Protobuf message that the payloads of a topic filter are. */
export interface DecoderRule {
  readonly id: string;
  readonly filter: string;
  /** Its `.proto` files. */
  readonly schemas: readonly SchemaFile[];
  /** The full name of the message, as `plant.Reading`. */
  readonly messageType: string;
}

/** @throws Error with the reason why the bytes do not fit */
export type PayloadDecoder = (payload: Uint8Array) => DecodedValue;

/** More rules than a user can remember; each topic is matched against them once. */
export const RULES_MAX = 50;

/** Characters of one schema file: those of large standards have 300,000. */
export const SCHEMA_CHARACTERS_MAX = 1_000_000;

/** Files of one schema. */
export const SCHEMA_FILES_MAX = 50;
