import { type PropertyDefinition, type PropertySection, propertyDefinition } from './grammar.ts';
import type {
  AuthProperties,
  ConnackProperties,
  ConnectProperties,
  DisconnectProperties,
  PublishProperties,
  SubscribeProperties,
  WillProperties,
} from './packets.ts';
import type { PacketReader } from './reader.ts';
import { ReasonCode } from './reason-codes.ts';

/** The properties of any packet: every one is optional, and their section decides which can be there. */
export type AnyProperties = ConnectProperties &
  WillProperties &
  ConnackProperties &
  PublishProperties &
  SubscribeProperties &
  DisconnectProperties &
  AuthProperties;

type Collected = Record<string, unknown> & {
  userProperties?: [string, string][];
  subscriptionIdentifiers?: number[];
};

/** Reads a property section and its length (2.2.2). */
export function readProperties(reader: PacketReader, section: PropertySection): AnyProperties {
  const properties: Collected = {};
  const length = reader.variableByteInteger('the property length');
  if (length === 0) return properties as AnyProperties;
  if (length > reader.remaining) {
    reader.malformed(`The properties of ${section} are longer than the packet`);
    return {};
  }
  const end = reader.position + length;
  while (reader.position < end) readProperty(reader, section, properties);
  if (reader.position > end) reader.malformed(`A property of ${section} is longer than its section`);
  return properties as AnyProperties;
}

function readProperty(reader: PacketReader, section: PropertySection, properties: Collected): void {
  const identifier = reader.uint8('a property identifier');
  const definition = propertyDefinition(identifier);
  if (definition === undefined || !definition.sections.has(section)) {
    // Section 2.2.2.2 says so for both.
    reader.malformed(`${section} has no property ${definition?.name ?? `0x${identifier.toString(16)}`}`);
    return;
  }
  const value = readValue(reader, definition);
  if (definition.type === 'utf8StringPair') {
    properties.userProperties ??= [];
    properties.userProperties.push(value as [string, string]); // in the packet's order [MQTT-3.3.2-18]
  } else if (definition.name === 'subscriptionIdentifier' && section === 'publish') {
    properties.subscriptionIdentifiers ??= [];
    properties.subscriptionIdentifiers.push(value as number);
  } else if (properties[definition.name] !== undefined) {
    reader.fail(ReasonCode.ProtocolError, `${definition.name} may appear only once in ${section}`);
  } else {
    properties[definition.name] = value;
  }
}

function readValue(reader: PacketReader, definition: PropertyDefinition): unknown {
  const { name, type } = definition;
  switch (type) {
    case 'utf8String':
      return reader.utf8String(name);
    case 'utf8StringPair':
      return [reader.utf8String(name), reader.utf8String(name)]; // [MQTT-1.5.7-1]
    case 'binary':
      return reader.binary(name);
    case 'byte':
      return inRange(reader, definition, reader.uint8(name));
    case 'uint16':
      return inRange(reader, definition, reader.uint16(name));
    case 'uint32':
      return inRange(reader, definition, reader.uint32(name));
    case 'variableByteInteger':
      return inRange(reader, definition, reader.variableByteInteger(name));
  }
}

function inRange(reader: PacketReader, definition: PropertyDefinition, value: number): number {
  if (value < definition.minimum || value > definition.maximum) {
    reader.fail(definition.outOfRange, `${definition.name} cannot be ${value}`);
  }
  return value;
}
