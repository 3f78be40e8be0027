import type { PacketType } from './packets.ts';
import { ReasonCode } from './reason-codes.ts';

/** The packet that owns the property section: a CONNECT has a second one for its Will. */
export type PropertySection = PacketType | 'will';

export type PropertyType =
  | 'byte'
  | 'uint16'
  | 'uint32'
  | 'variableByteInteger'
  | 'utf8String'
  | 'binary'
  | 'utf8StringPair';

export interface PropertyDefinition {
  readonly identifier: number;
  /** Its name in the packet types; it is mqtt-packet's too, but for the two that may repeat. */
  readonly name: string;
  readonly type: PropertyType;
  readonly sections: ReadonlySet<PropertySection>;
  /** Smallest and largest value, where the type allows more than the specification does. */
  readonly minimum: number;
  readonly maximum: number;
  /** The reason code of a value outside them: Protocol Error but for the Topic Alias. */
  readonly outOfRange: number;
}

interface Range {
  minimum?: number;
  maximum?: number;
  outOfRange?: number;
}

const FLAG: Range = { maximum: 1 };
const NOT_ZERO: Range = { minimum: 1 };
const WITH_REASON: readonly PropertySection[] = [
  'connack',
  'puback',
  'pubrec',
  'pubrel',
  'pubcomp',
  'suback',
  'unsuback',
  'disconnect',
  'auth',
];
const MESSAGE: readonly PropertySection[] = ['publish', 'will'];
const AUTHENTICATION: readonly PropertySection[] = ['connect', 'connack', 'auth'];
const EVERYWHERE: readonly PropertySection[] = [
  ...WITH_REASON,
  ...MESSAGE,
  'connect',
  'subscribe',
  'unsubscribe',
];

/** Table 2-4 of MQTT 5.0, found by identifier. */
const DEFINITIONS: readonly (PropertyDefinition | undefined)[] = byIdentifier([
  define(0x01, 'payloadFormatIndicator', 'byte', MESSAGE, FLAG),
  define(0x02, 'messageExpiryInterval', 'uint32', MESSAGE),
  define(0x03, 'contentType', 'utf8String', MESSAGE), // [MQTT-3.3.2-19]
  define(0x08, 'responseTopic', 'utf8String', MESSAGE), // [MQTT-3.3.2-13]
  define(0x09, 'correlationData', 'binary', MESSAGE),
  define(0x0b, 'subscriptionIdentifier', 'variableByteInteger', ['publish', 'subscribe'], NOT_ZERO),
  define(0x11, 'sessionExpiryInterval', 'uint32', ['connect', 'connack', 'disconnect']),
  define(0x12, 'assignedClientIdentifier', 'utf8String', ['connack']),
  define(0x13, 'serverKeepAlive', 'uint16', ['connack']),
  define(0x15, 'authenticationMethod', 'utf8String', AUTHENTICATION),
  define(0x16, 'authenticationData', 'binary', AUTHENTICATION),
  define(0x17, 'requestProblemInformation', 'byte', ['connect'], FLAG),
  define(0x18, 'willDelayInterval', 'uint32', ['will']),
  define(0x19, 'requestResponseInformation', 'byte', ['connect'], FLAG),
  define(0x1a, 'responseInformation', 'utf8String', ['connack']),
  define(0x1c, 'serverReference', 'utf8String', ['connack', 'disconnect']),
  define(0x1f, 'reasonString', 'utf8String', WITH_REASON),
  define(0x21, 'receiveMaximum', 'uint16', ['connect', 'connack'], NOT_ZERO),
  define(0x22, 'topicAliasMaximum', 'uint16', ['connect', 'connack']),
  // [MQTT-3.3.2-8]
  define(0x23, 'topicAlias', 'uint16', ['publish'], { minimum: 1, outOfRange: ReasonCode.TopicAliasInvalid }),
  define(0x24, 'maximumQoS', 'byte', ['connack'], FLAG),
  define(0x25, 'retainAvailable', 'byte', ['connack'], FLAG),
  define(0x26, 'userProperties', 'utf8StringPair', EVERYWHERE),
  define(0x27, 'maximumPacketSize', 'uint32', ['connect', 'connack'], NOT_ZERO),
  define(0x28, 'wildcardSubscriptionAvailable', 'byte', ['connack'], FLAG),
  define(0x29, 'subscriptionIdentifiersAvailable', 'byte', ['connack'], FLAG),
  define(0x2a, 'sharedSubscriptionAvailable', 'byte', ['connack'], FLAG),
]);

export function propertyDefinition(identifier: number): PropertyDefinition | undefined {
  return DEFINITIONS[identifier];
}

function define(
  identifier: number,
  name: string,
  type: PropertyType,
  sections: readonly PropertySection[],
  range: Range = {},
): PropertyDefinition {
  return {
    identifier,
    name,
    type,
    sections: new Set(sections),
    minimum: range.minimum ?? 0,
    maximum: range.maximum ?? Number.MAX_SAFE_INTEGER,
    outOfRange: range.outOfRange ?? ReasonCode.ProtocolError,
  };
}

function byIdentifier(definitions: readonly PropertyDefinition[]): (PropertyDefinition | undefined)[] {
  const table: (PropertyDefinition | undefined)[] = new Array(0x80).fill(undefined);
  for (const definition of definitions) table[definition.identifier] = definition;
  return table;
}
