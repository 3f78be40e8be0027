import { newId, newProfile, newSubscription } from './new-profile.ts';
import { flag, integer, membersOf, oneOf, qos, text } from './read-members.ts';
import type { ConnectionProfile, Subscription, UserProperties, WillProfile } from './types.ts';

/** Subscriptions of an external profile. */
const SUBSCRIPTIONS_MAX = 1_000;

/**
 * A profile from an untrusted value (a file, an older version of the client): it takes valid fields,
 * and others keep their default. The identifiers are new, so nothing is overwritten.
 *
 * @returns undefined if it is no profile at all
 */
export function readProfile(value: unknown): ConnectionProfile | undefined {
  const read = membersOf(value);
  const url = text(read?.url);
  if (read === undefined || url === undefined || url === '') return undefined;
  const base = newProfile(url, text(read.name) ?? '');
  const needs = membersOf(read.needs);
  return {
    ...base,
    door: oneOf(read.door, ['auto', 'node', 'gateway'] as const) ?? base.door,
    protocolVersion: oneOf(read.protocolVersion, [4, 5] as const) ?? base.protocolVersion,
    clientId: text(read.clientId) ?? base.clientId,
    username: text(read.username) ?? base.username,
    cleanStart: flag(read.cleanStart) ?? base.cleanStart,
    keepAliveSeconds: integer(read.keepAliveSeconds, 0, 0xffff) ?? base.keepAliveSeconds,
    connectTimeoutSeconds: integer(read.connectTimeoutSeconds, 1, 300) ?? base.connectTimeoutSeconds,
    reconnect: flag(read.reconnect) ?? base.reconnect,
    reconnectPeriodMs: integer(read.reconnectPeriodMs, 100, 600_000) ?? base.reconnectPeriodMs,
    sessionExpiryIntervalSeconds: integer(read.sessionExpiryIntervalSeconds, 0, 0xffff_ffff),
    receiveMaximum: integer(read.receiveMaximum, 1, 0xffff),
    maximumPacketSizeBytes: integer(read.maximumPacketSizeBytes, 1, 0xffff_ffff),
    topicAliasMaximum: integer(read.topicAliasMaximum, 0, 0xffff),
    requestResponseInformation: flag(read.requestResponseInformation),
    requestProblemInformation: flag(read.requestProblemInformation),
    userProperties: userProperties(read.userProperties),
    authenticationMethod: text(read.authenticationMethod) ?? base.authenticationMethod,
    will: will(read.will),
    heartbeatSeconds: integer(read.heartbeatSeconds, 1, 540),
    tokenParameter: text(read.tokenParameter) ?? base.tokenParameter,
    needs: { password: flag(needs?.password) ?? false, token: flag(needs?.token) ?? false },
    subscriptions: subscriptions(read.subscriptions),
  };
}

/** An external subscription; undefined if it has no filter. */
export function readSubscription(value: unknown, taken = 0): Subscription | undefined {
  const read = membersOf(value);
  const filter = text(read?.filter);
  if (read === undefined || filter === undefined || filter === '') return undefined;
  const base = newSubscription(filter, taken);
  return {
    ...base,
    id: newId(),
    alias: text(read.alias) ?? base.alias,
    color: text(read.color) ?? base.color,
    qos: qos(read.qos) ?? base.qos,
    noLocal: flag(read.noLocal) ?? base.noLocal,
    retainAsPublished: flag(read.retainAsPublished) ?? base.retainAsPublished,
    retainHandling: qos(read.retainHandling) ?? base.retainHandling,
    identifier:
      oneOf(read.identifier, ['auto', 'none'] as const) ??
      integer(read.identifier, 1, 268_435_455) ??
      base.identifier,
    userProperties: userProperties(read.userProperties),
    enabled: flag(read.enabled) ?? base.enabled,
  };
}

function subscriptions(value: unknown): readonly Subscription[] {
  if (!Array.isArray(value)) return [];
  const read = value.slice(0, SUBSCRIPTIONS_MAX).map((entry, index) => readSubscription(entry, index));
  return read.filter((subscription) => subscription !== undefined);
}

function will(value: unknown): WillProfile | undefined {
  const read = membersOf(value);
  const topic = text(read?.topic);
  if (read === undefined || topic === undefined || topic === '') return undefined;
  const properties = membersOf(read.properties) ?? {};
  return {
    topic,
    payload: text(read.payload) ?? '',
    qos: qos(read.qos) ?? 0,
    retain: flag(read.retain) ?? false,
    delayIntervalSeconds: integer(read.delayIntervalSeconds, 0, 0xffff_ffff),
    properties: {
      payloadFormatIndicator: flag(properties.payloadFormatIndicator),
      messageExpiryIntervalSeconds: integer(properties.messageExpiryIntervalSeconds, 0, 0xffff_ffff),
      contentType: text(properties.contentType),
      responseTopic: text(properties.responseTopic),
      correlationText: text(properties.correlationText),
      userProperties: userProperties(properties.userProperties),
    },
  };
}

export function userProperties(value: unknown): UserProperties {
  if (!Array.isArray(value)) return [];
  return value.flatMap((pair: unknown) => {
    const [name, entry] = Array.isArray(pair) ? pair : [];
    return text(name) === undefined || text(entry) === undefined ? [] : [[name, entry] as const];
  });
}
