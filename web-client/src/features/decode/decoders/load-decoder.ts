import { readCbor, readJson, readMessagePack } from '../read-structured.ts';
import type { DecoderRule, PayloadDecoder } from './rules.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The decoder of a rule. Decoders with a library are fetched when the first rule needs them.
 * @throws Error that names the problem in the schema
 */
export async function loadDecoder(rule: DecoderRule): Promise<PayloadDecoder> {
  switch (rule.kind) {
    case 'protobuf':
      return (await import('./protobuf.ts')).protobufDecoder(rule.schemas, rule.messageType);
    case 'sparkplug':
      return (await import('./sparkplug.ts')).sparkplugDecoder();
    case 'avro':
      return (await import('./avro.ts')).avroDecoder(rule.schemas[0]?.text ?? '');
    case 'cbor':
      return readCbor;
    case 'msgpack':
      return readMessagePack;
    case 'json':
      return (payload) => readJson(utf8.decode(payload));
  }
}
