import {
  type ConnackPacket,
  type ConnackProperties,
  type ConnectPacket,
  RECEIVE_MAXIMUM_DEFAULT,
  ReasonCode,
} from '@apus/mqtt';
import type { Context } from '../context.ts';
import { DROPPED_TOPIC, DROPPED_TOPIC_PROPERTY } from '../deliver/drops.ts';
import type { BrokerLimits } from '../model/limits.ts';
import { NEVER_EXPIRES, type Ports } from '../ports/index.ts';

/** What every client of MQTT 5.0 is told: only values that differ from what it would assume. */
export function connackPropertiesOfAll(
  { receiveMaximum, maximumPacketSize, topicAliasMaximum }: BrokerLimits,
  { drops }: Ports,
): Readonly<ConnackProperties> {
  return Object.freeze({
    ...(receiveMaximum < RECEIVE_MAXIMUM_DEFAULT && { receiveMaximum }),
    maximumPacketSize,
    ...(topicAliasMaximum > 0 && { topicAliasMaximum }),
    ...(drops !== undefined && {
      userProperties: [[DROPPED_TOPIC_PROPERTY, DROPPED_TOPIC] as const],
    }),
  });
}

interface Admitted {
  readonly packet: ConnectPacket;
  /** The server has named the client. */
  readonly isAssigned: boolean;
  readonly authenticationData: Uint8Array | undefined;
}

/** The CONNACK that accepts, of a new session. It is known before the session is opened, so that it can be refused. */
export function connackOf(context: Context, admission: Admitted): ConnackPacket {
  const properties = admission.packet.protocolVersion < 5 ? {} : connackProperties(context, admission);
  return { type: 'connack', sessionPresent: false, reasonCode: ReasonCode.Success, properties };
}

/** With what differs from what this client asked for. */
function connackProperties(
  context: Context,
  { packet, isAssigned, authenticationData }: Admitted,
): ConnackProperties {
  const { authenticationMethod, requestResponseInformation, sessionExpiryInterval } = packet.properties;
  const own: ConnackProperties = {};
  const expirySeconds = grantedExpirySeconds(context, packet);
  if (expirySeconds !== (sessionExpiryInterval ?? 0)) own.sessionExpiryInterval = expirySeconds;
  // [MQTT-3.2.2-16]
  if (isAssigned) own.assignedClientIdentifier = packet.clientId;
  const serverKeepAlive = keepAliveSeconds(context, packet);
  if (serverKeepAlive !== packet.keepAliveSeconds) own.serverKeepAlive = serverKeepAlive;
  // Only for a client that asked [MQTT-3.1.2-28].
  const responseInformation =
    requestResponseInformation === 1 ? context.options.responseInformation : undefined;
  if (responseInformation !== undefined)
    own.responseInformation = responseInformation.replaceAll('%c', packet.clientId);
  if (authenticationMethod !== undefined) own.authenticationMethod = authenticationMethod;
  if (authenticationData !== undefined) own.authenticationData = authenticationData;
  for (const _ in own) return { ...context.connackProperties, ...own };
  return context.connackProperties;
}

/** The client's Keep Alive; or the server's maximum, if it is shorter and the client can be told [MQTT-3.2.2-22]. */
export function keepAliveSeconds({ limits }: Context, packet: ConnectPacket): number {
  const maximum = limits.serverKeepAliveSecondsMax;
  const asked = packet.keepAliveSeconds;
  if (maximum === 0 || packet.protocolVersion < 5) return asked;
  return asked === 0 ? maximum : Math.min(asked, maximum);
}

/**
 * An absent Session Expiry Interval is 0 in MQTT 5.0. A 3.1.1 session without Clean Session lives as long as the limit
 * allows [MQTT3-3.1.2-4].
 */
export function grantedExpirySeconds({ limits }: Context, packet: ConnectPacket): number {
  const asked =
    packet.protocolVersion === 5
      ? (packet.properties.sessionExpiryInterval ?? 0)
      : packet.cleanStart
        ? 0
        : NEVER_EXPIRES;
  return Math.min(asked, limits.sessionExpirySecondsMax);
}
