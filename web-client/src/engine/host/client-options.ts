import type { IClientOptions } from 'mqtt';
import type { ConnectionProfile, Secrets, WillProfile } from '../types.ts';
import { asBuffer, toMqttUserProperties, withoutUndefined } from './mqtt-properties.ts';

const encoder = new TextEncoder();

/** mqtt.js's options for a profile: all of CONNECT. */
export function clientOptions(profile: ConnectionProfile, secrets: Secrets): IClientOptions {
  const isVersion5 = profile.protocolVersion === 5;
  return withoutUndefined({
    protocolVersion: profile.protocolVersion,
    clientId: profile.clientId,
    clean: profile.cleanStart,
    keepalive: profile.keepAliveSeconds,
    connectTimeout: profile.connectTimeoutSeconds * 1_000,
    reconnectPeriod: profile.reconnect ? profile.reconnectPeriodMs : 0,
    username: profile.username === '' ? undefined : profile.username,
    password: secrets.password === '' ? undefined : secrets.password,
    will: profile.will && willOptions(profile.will, isVersion5),
    properties: isVersion5 ? connectProperties(profile, secrets) : undefined,
    // `SubscriptionKeeper` manages subscriptions, and reads the server's answer to each.
    resubscribe: false,
    // A publish without a connection fails at once, and the failure is shown.
    queueQoSZero: false,
    timerVariant: 'native' as const,
  });
}

function connectProperties(
  profile: ConnectionProfile,
  secrets: Secrets,
): NonNullable<IClientOptions['properties']> {
  const method = profile.authenticationMethod;
  const data = secrets.authenticationData ?? '';
  return withoutUndefined({
    sessionExpiryInterval: profile.sessionExpiryIntervalSeconds,
    receiveMaximum: profile.receiveMaximum,
    maximumPacketSize: profile.maximumPacketSizeBytes,
    topicAliasMaximum: profile.topicAliasMaximum,
    requestResponseInformation: profile.requestResponseInformation,
    requestProblemInformation: profile.requestProblemInformation,
    userProperties: toMqttUserProperties(profile.userProperties),
    authenticationMethod: method === '' ? undefined : method,
    authenticationData: method === '' || data === '' ? undefined : asBuffer(encoder.encode(data)),
  });
}

function willOptions(will: WillProfile, isVersion5: boolean): NonNullable<IClientOptions['will']> {
  const { topic, payload, qos, retain, properties } = will;
  const base = { topic, payload: asBuffer(encoder.encode(payload)), qos, retain };
  if (!isVersion5) return base;
  const { correlationText } = properties;
  return {
    ...base,
    properties: withoutUndefined({
      willDelayInterval: will.delayIntervalSeconds,
      payloadFormatIndicator: properties.payloadFormatIndicator,
      messageExpiryInterval: properties.messageExpiryIntervalSeconds,
      contentType: properties.contentType,
      responseTopic: properties.responseTopic,
      correlationData: correlationText === undefined ? undefined : asBuffer(encoder.encode(correlationText)),
      userProperties: toMqttUserProperties(properties.userProperties ?? []),
    }),
  };
}
