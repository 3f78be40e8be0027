import type { DecodedValue } from '../value.ts';

/** The decoder of a rule. Protobuf and Avro need a schema. */
export const DECODER_KINDS = ['protobuf', 'avro', 'sparkplug', 'cbor', 'msgpack', 'json'] as const;
export type DecoderKind = (typeof DECODER_KINDS)[number];

/** A dropped file. */
export interface SchemaFile {
  readonly name: string;
  readonly text: string;
}

/** How the payloads of a topic filter are decoded. */
export interface DecoderRule {
  readonly id: string;
  readonly filter: string;
  readonly kind: DecoderKind;
  /** Protobuf: its `.proto` files. Avro: one schema, as JSON. */
  readonly schemas: readonly SchemaFile[];
  /** Protobuf: the full name of the message, as `plant.Reading`. */
  readonly messageType: string;
}

/** @throws Error with the reason why the bytes do not fit */
export type PayloadDecoder = (payload: Uint8Array, topic: string) => DecodedValue;

/** More rules than a user can remember; each topic is matched against them once. */
export const RULES_MAX = 50;

/** Characters of one schema file: those of large standards have 300,000. */
export const SCHEMA_CHARACTERS_MAX = 1_000_000;

/** Files of one schema. */
export const SCHEMA_FILES_MAX = 50;

/** Sparkplug defines its own topics (section 4 of its specification), so no rule is needed. */
export const BUILT_IN_RULE: DecoderRule = {
  id: 'sparkplug',
  filter: 'spBv1.0/+/+/+/#',
  kind: 'sparkplug',
  schemas: [],
  messageType: '',
};
