import type { PublishProperties, UserProperties } from '@apus/mqtt';
import type { IPublishPacket } from 'mqtt';

type RemoteProperties = NonNullable<IPublishPacket['properties']>;

/** The properties in mqtt.js's form: each name of a user property once, with its values in order. */
export function toRemote(
  properties: PublishProperties,
  messageExpiryInterval: number | undefined,
): RemoteProperties {
  const { payloadFormatIndicator, contentType, responseTopic, correlationData, userProperties } = properties;
  return {
    ...(payloadFormatIndicator !== undefined && { payloadFormatIndicator: payloadFormatIndicator === 1 }),
    ...(contentType !== undefined && { contentType }),
    ...(responseTopic !== undefined && { responseTopic }),
    ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData) }),
    ...(messageExpiryInterval !== undefined && { messageExpiryInterval }),
    ...(userProperties !== undefined && { userProperties: grouped(userProperties) }),
  };
}

export function fromRemote(properties: RemoteProperties = {}): PublishProperties {
  const { payloadFormatIndicator, contentType, responseTopic, correlationData, userProperties } = properties;
  const { messageExpiryInterval } = properties;
  return {
    ...(payloadFormatIndicator !== undefined && { payloadFormatIndicator: payloadFormatIndicator ? 1 : 0 }),
    ...(contentType !== undefined && { contentType }),
    ...(responseTopic !== undefined && { responseTopic }),
    ...(correlationData !== undefined && { correlationData }),
    ...(messageExpiryInterval !== undefined && { messageExpiryInterval }),
    ...(userProperties !== undefined && { userProperties: pairsOf(userProperties) }),
  };
}

/** The object has no prototype: a property may have any name. */
function grouped(pairs: UserProperties): Record<string, string[]> {
  const groups: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    groups[name] ??= [];
    groups[name].push(value);
  }
  return groups;
}

function pairsOf(groups: Readonly<Record<string, string | readonly string[]>>): UserProperties {
  return Object.entries(groups).flatMap(([name, values]) =>
    (typeof values === 'string' ? [values] : values).map((value) => [name, value] as const),
  );
}
