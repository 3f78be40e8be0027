import { flag, integer, type Members, membersOf, oneOf, qos, text } from '../../engine/read-members.ts';
import { readProfile } from '../../engine/read-profile.ts';
import type { UserProperties } from '../../engine/types.ts';
import { type FiledConnection, withNeeds } from './connections-file.ts';

/** Connections that MQTTX exported as JSON: a list in its own form, with separate host, port and path. */
export function isMqttx(entries: readonly unknown[]): boolean {
  const first = membersOf(entries[0]);
  return first !== undefined && text(first.host) !== undefined && 'clientId' in first && !('url' in first);
}

export interface MqttxConnections {
  readonly connections: readonly FiledConnection[];
  /** Names of connections over TCP, which no browser can open. */
  readonly overTcp: readonly string[];
}

/** Imports the settings that this client also has. It has no certificates: the browser has its own. */
export function readMqttx(entries: readonly unknown[]): MqttxConnections {
  const connections: FiledConnection[] = [];
  const overTcp: string[] = [];
  for (const entry of entries) {
    const read = membersOf(entry);
    if (read === undefined) continue;
    const protocol = text(read.protocol) ?? (flag(read.ssl) ? 'wss' : 'ws');
    if (protocol === 'mqtt' || protocol === 'mqtts') overTcp.push(text(read.name) ?? text(read.host) ?? '');
    else {
      const connection = connectionOf(read, protocol);
      if (connection !== undefined) connections.push(connection);
    }
  }
  return { connections, overTcp };
}

function connectionOf(read: Members, protocol: string): FiledConnection | undefined {
  // Older files have the properties of CONNECT beside all other fields.
  const properties = { ...read, ...membersOf(read.properties) };
  const seconds = integer(properties.sessionExpiryInterval, 0, 0xffff_ffff);
  const profile = readProfile({
    name: text(read.name),
    url: urlOf(read, protocol),
    door: 'node',
    protocolVersion: text(read.mqttVersion) === '5.0' ? 5 : 4,
    clientId: text(read.clientId),
    username: text(read.username),
    cleanStart: flag(read.clean),
    keepAliveSeconds: integer(read.keepalive, 0, 0xffff),
    connectTimeoutSeconds: integer(read.connectTimeout, 1, 300),
    reconnect: flag(read.reconnect),
    reconnectPeriodMs: integer(read.reconnectPeriod, 100, 600_000),
    sessionExpiryIntervalSeconds: seconds,
    receiveMaximum: properties.receiveMaximum,
    maximumPacketSizeBytes: properties.maximumPacketSize,
    topicAliasMaximum: properties.topicAliasMaximum,
    requestResponseInformation: properties.requestResponseInformation,
    requestProblemInformation: properties.requestProblemInformation,
    userProperties: pairsOf(properties.userProperties),
    will: willOf(membersOf(read.will)),
    subscriptions: Array.isArray(read.subscriptions) ? read.subscriptions.map(subscriptionOf) : [],
  });
  if (profile === undefined) return undefined;
  const password = text(read.password);
  const secrets = { password: password === '' ? undefined : password };
  return { profile: withNeeds(profile, secrets), secrets };
}

function urlOf({ host, port, path }: Members, protocol: string): string {
  const where = text(path) ?? '/mqtt';
  const at = integer(port, 1, 0xffff);
  return `${protocol}://${text(host)}${at === undefined ? '' : `:${at}`}${where.startsWith('/') ? '' : '/'}${where}`;
}

function willOf(read: Members | undefined): unknown {
  const topic = text(read?.lastWillTopic);
  if (read === undefined || topic === undefined || topic === '') return undefined;
  const properties = membersOf(read.properties) ?? {};
  return {
    topic,
    payload: text(read.lastWillPayload),
    qos: qos(read.lastWillQos),
    retain: flag(read.lastWillRetain),
    delayIntervalSeconds: properties.willDelayInterval,
    properties: {
      payloadFormatIndicator: properties.payloadFormatIndicator,
      messageExpiryIntervalSeconds: properties.messageExpiryInterval,
      contentType: properties.contentType,
      responseTopic: properties.responseTopic,
      correlationText: properties.correlationData,
      userProperties: pairsOf(properties.userProperties),
    },
  };
}

function subscriptionOf(value: unknown): unknown {
  const read = membersOf(value) ?? {};
  return {
    filter: read.topic,
    alias: read.alias,
    qos: read.qos,
    noLocal: read.nl,
    retainAsPublished: read.rap,
    retainHandling: oneOf(read.rh, [0, 1, 2] as const),
    identifier: integer(read.subscriptionIdentifier, 1, 268_435_455) ?? 'auto',
    enabled: flag(read.disabled) !== true,
  };
}

/** There: an object, whose members are texts or lists of texts. */
function pairsOf(value: unknown): UserProperties {
  return Object.entries(membersOf(value) ?? {}).flatMap(([name, entry]) =>
    (Array.isArray(entry) ? entry : [entry]).flatMap((one: unknown) =>
      typeof one === 'string' ? [[name, one] as const] : [],
    ),
  );
}
