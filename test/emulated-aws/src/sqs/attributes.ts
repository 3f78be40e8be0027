import { invalidParameter } from './errors.ts';
import { type Input, objectMap, text } from './input.ts';
import type { MessageAttribute, MessageAttributes } from './message.ts';

const NAME = /^(?!\.)(?!.*\.\.)[A-Za-z0-9_.-]{1,256}(?<!\.)$/;
const RESERVED_NAME = /^(aws|amazon)\./i;
const TYPE = /^(String|Number|Binary)(\.[A-Za-z0-9_.-]+)?$/;
const TYPE_CHARACTERS_MAX = 256;
const TRACE_HEADER = 'AWSTraceHeader';

/** The message attributes of a send. */
export function readAttributes(input: Input, attributesMax: number): MessageAttributes {
  const attributes = readMap(input, 'MessageAttributes');
  const names = Object.keys(attributes);
  if (names.length > attributesMax) {
    throw invalidParameter(
      `Number of message attributes [${names.length}] exceeds the allowed maximum [${attributesMax}].`,
    );
  }
  const wrong = names.find((name) => !NAME.test(name) || RESERVED_NAME.test(name));
  if (wrong === undefined) return attributes;
  throw invalidParameter(
    `Message attribute name '${wrong}' is invalid. It should have letters, digits, _ - and single periods inside, at most 256, and no prefix of AWS.`,
  );
}

/** Only the header of AWS X-Ray is allowed. */
export function readSystemAttributes(input: Input): MessageAttributes {
  const attributes = readMap(input, 'MessageSystemAttributes');
  for (const [name, { DataType }] of Object.entries(attributes)) {
    if (name !== TRACE_HEADER || DataType !== 'String') {
      throw invalidParameter(
        `Message system attribute name '${name}' of type ${DataType} is invalid. It should be ${TRACE_HEADER} of type String.`,
      );
    }
  }
  return attributes;
}

/** The bytes that attributes add to a message's size: names, types and values. */
export function attributesBytes(attributes: MessageAttributes): number {
  let bytes = 0;
  for (const [name, { DataType, StringValue, BinaryValue }] of Object.entries(attributes)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(DataType) + Buffer.byteLength(StringValue ?? '');
    bytes += Buffer.byteLength(BinaryValue ?? '', 'base64');
  }
  return bytes;
}

/** Those of a message that a receive asked for: by name, by prefix (`bar.*`), or all (`All`, `.*`). */
export function selectAttributes(attributes: MessageAttributes, names: readonly string[]): MessageAttributes {
  const isAsked = (name: string): boolean =>
    names.some((asked) => {
      if (asked === 'All' || asked === '.*') return true;
      return asked.endsWith('.*') ? name.startsWith(asked.slice(0, -1)) : asked === name;
    });
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => isAsked(name)));
}

function readMap(input: Input, member: string): MessageAttributes {
  const entries = Object.entries(objectMap(input, member)).map(
    ([name, value]): [string, MessageAttribute] => [name, readAttribute(name, value)],
  );
  return Object.fromEntries(entries);
}

function readAttribute(name: string, value: Input): MessageAttribute {
  const type = text(value, 'DataType') ?? '';
  if (type === '')
    throw invalidParameter(
      `The message attribute '${name}' must contain a non-empty message attribute type.`,
    );
  if (!TYPE.test(type) || type.length > TYPE_CHARACTERS_MAX) {
    throw invalidParameter(
      `The message attribute '${name}' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.`,
    );
  }
  const isBinary = type.startsWith('Binary');
  const content = text(value, isBinary ? 'BinaryValue' : 'StringValue') ?? '';
  if (content === '')
    throw invalidParameter(
      `The message attribute '${name}' must contain a non-empty value for its type ${type}.`,
    );
  if (type.startsWith('Number') && !Number.isFinite(Number(content))) {
    throw invalidParameter(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  }
  return { DataType: type, ...(isBinary ? { BinaryValue: content } : { StringValue: content }) };
}
