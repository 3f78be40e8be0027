import type { IClientPublishOptions, IConnackPacket, IPublishPacket } from 'mqtt';
import type { MessageProperties, SessionFacts, UserProperties } from '../types.ts';

/** Properties in mqtt.js's form. */
export type PublishProperties = NonNullable<IClientPublishOptions['properties']>;
export type MqttUserProperties = Record<string, string | string[]>;

/** mqtt.js calls its bytes `Buffer`; it writes any bytes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return bytes as unknown as Buffer;
}

/** Several values of one name are an array. */
export function toMqttUserProperties(pairs: UserProperties): MqttUserProperties | undefined {
  if (pairs.length === 0) return undefined;
  // A property may have the name of an inherited member.
  const properties: MqttUserProperties = Object.create(null);
  for (const [name, value] of pairs) {
    const known = properties[name];
    properties[name] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value];
  }
  return properties;
}

export function fromMqttUserProperties(properties: MqttUserProperties | undefined): UserProperties {
  if (properties === undefined) return [];
  return Object.entries(properties).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : [values]).map((value) => [name, value] as const),
  );
}

/** Leaves out undefined properties: mqtt.js would send them. */
export function withoutUndefined<T extends object>(
  properties: T,
): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(properties).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}

export function toMqttProperties(properties: MessageProperties): PublishProperties {
  return withoutUndefined({
    payloadFormatIndicator: properties.payloadFormatIndicator,
    messageExpiryInterval: properties.messageExpiryIntervalSeconds,
    topicAlias: properties.topicAlias,
    responseTopic: properties.responseTopic,
    correlationData: properties.correlationData && asBuffer(properties.correlationData),
    userProperties: toMqttUserProperties(properties.userProperties ?? []),
    contentType: properties.contentType,
  });
}

/** Undefined for a message without properties, as most are. */
export function fromMqttProperties(properties: IPublishPacket['properties']): MessageProperties | undefined {
  if (properties === undefined || Object.keys(properties).length === 0) return undefined;
  const { subscriptionIdentifier: identifier, userProperties, correlationData } = properties;
  return withoutUndefined({
    payloadFormatIndicator: properties.payloadFormatIndicator,
    messageExpiryIntervalSeconds: properties.messageExpiryInterval,
    topicAlias: properties.topicAlias,
    responseTopic: properties.responseTopic,
    correlationData: correlationData && new Uint8Array(correlationData),
    userProperties: userProperties && fromMqttUserProperties(userProperties),
    subscriptionIdentifiers:
      identifier === undefined ? undefined : Array.isArray(identifier) ? identifier : [identifier],
    contentType: properties.contentType,
  });
}

/** The fields of CONNACK, with the defaults of absent properties (3.2.2.3). */
export function sessionFacts(
  connack: IConnackPacket,
  asked: {
    readonly clientId: string;
    readonly keepAliveSeconds: number;
    readonly sessionExpirySeconds: number | undefined;
  },
  atMs: number,
): SessionFacts {
  const properties = connack.properties ?? {};
  const maximumQos = properties.maximumQoS;
  return {
    connectedAtMs: atMs,
    sessionPresent: connack.sessionPresent,
    clientId: properties.assignedClientIdentifier ?? asked.clientId,
    keepAliveSeconds: properties.serverKeepAlive ?? asked.keepAliveSeconds,
    maximumQos: maximumQos === 0 || maximumQos === 1 ? maximumQos : 2,
    retainAvailable: properties.retainAvailable ?? true,
    wildcardAvailable: properties.wildcardSubscriptionAvailable ?? true,
    subscriptionIdentifiersAvailable: properties.subscriptionIdentifiersAvailable ?? true,
    sharedAvailable: properties.sharedSubscriptionAvailable ?? true,
    sessionExpiryIntervalSeconds: properties.sessionExpiryInterval ?? asked.sessionExpirySeconds,
    receiveMaximum: properties.receiveMaximum,
    maximumPacketSizeBytes: properties.maximumPacketSize,
    topicAliasMaximum: properties.topicAliasMaximum,
    responseInformation: properties.responseInformation,
    serverReference: properties.serverReference,
    reasonString: properties.reasonString,
    userProperties: fromMqttUserProperties(properties.userProperties),
  };
}
